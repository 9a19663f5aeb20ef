import type { InstanceName } from './instance-name.ts'

/** The rights that a role can have in an instance, each with the words of the documentation. */
export const RIGHTS = {
  'read-cache': 'read blobs and action results',
  'write-blobs': 'upload blobs',
  'write-results': 'write action results',
  'read-tasks': 'list tasks and read their results and output',
  'run-tasks': 'submit tasks, and cancel its own ones',
  'cancel-tasks': 'cancel the tasks of every caller',
  work: 'register as a worker, receive leases and report their results',
  'manage-workers': 'drain and resume workers',
  'manage-storage': 'collect garbage',
  'manage-access': 'manage keys, instances and settings',
  serve: 'be a server of the fleet',
} as const

export type Right = keyof typeof RIGHTS

const READER = ['read-cache', 'read-tasks'] as const
const CLIENT = [...READER, 'write-blobs', 'run-tasks'] as const
const OPERATOR = [...READER, 'cancel-tasks', 'manage-workers', 'manage-storage'] as const

/**
 * The rights of each role. `worker` and `server` are roles of machines: no other role includes their rights, so that a
 * person's key cannot receive the code of other users.
 */
export const RIGHTS_OF = {
  reader: READER,
  client: CLIENT,
  'writer-ci': [...CLIENT, 'write-results'],
  worker: ['work'],
  operator: OPERATOR,
  admin: [...CLIENT, 'write-results', 'cancel-tasks', 'manage-workers', 'manage-storage', 'manage-access'],
  server: ['serve'],
} as const satisfies Record<string, readonly Right[]>

export type Role = keyof typeof RIGHTS_OF
export const ROLES = Object.keys(RIGHTS_OF) as readonly Role[]

/** In a grant: every instance, also those that are created later. No instance can have this name in a grant. */
export const EVERY_INSTANCE = '*'

/** A role in one instance, or in every instance. */
export interface Grant {
  readonly role: Role
  readonly instance: InstanceName | typeof EVERY_INSTANCE
}

export interface Granted {
  readonly grants: readonly Grant[]
}

/** Whether one of the grants includes the right in this instance. */
export const hasRight = ({ grants }: Granted, right: Right, instance: InstanceName): boolean =>
  grants.some(
    (grant) =>
      (grant.instance === instance || grant.instance === EVERY_INSTANCE) &&
      (RIGHTS_OF[grant.role] as readonly Right[]).includes(right),
  )
