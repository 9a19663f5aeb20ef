import { EVERY_INSTANCE, type Granted, ROLES } from './rights.ts'

/**
 * The party that a request comes from. Every door passes one to every call of a service or of the engine; there is no
 * default, so code that omits it does not compile. The doors do not authenticate yet: they pass the local caller, and a
 * client that can reach the server may call everything.
 */
export interface Caller extends Granted {
  /** How the caller was authenticated: not at all, or by an API key. */
  readonly kind: 'local' | 'key'
  /** Shown in logs and lists. */
  readonly name: string
}

/** Has every role in every instance. */
export const LOCAL_CALLER: Caller = {
  kind: 'local',
  name: 'local',
  grants: ROLES.map((role) => ({ role, instance: EVERY_INSTANCE })),
}
