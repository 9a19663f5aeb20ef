import type { InstanceName } from '../instance-name.ts'

/** Property of workers that can give a room a network; required for tasks that use one. */
export const NETWORK_PROPERTY = 'network-access'

/** The doors that a request for a network can come through, by the names that the settings use. */
export const NETWORK_DOORS = ['rest', 'judge0', 'cwl', 'reapi'] as const
export type NetworkDoor = (typeof NETWORK_DOORS)[number]

/** Whether the operator lets tasks of this instance use a network when they come through this door. */
export type NetworkGrants = (door: NetworkDoor, instance: InstanceName) => boolean

export const noNetwork: NetworkGrants = () => false

interface Grant {
  readonly door: string
  /** Undefined for every instance. */
  readonly instance: InstanceName | undefined
}

/** One grant: `DOOR` for every instance, or `DOOR@INSTANCE`; `*` is every door, and nothing after the @ is the default instance. */
function grantOf(text: string): Grant {
  const at = text.indexOf('@')
  return at < 0 ? { door: text, instance: undefined } : { door: text.slice(0, at), instance: text.slice(at + 1) }
}

/** Why a text is no grant; undefined when it is one. */
export function grantProblem(text: string): string | undefined {
  const { door } = grantOf(text)
  if (door === '*' || NETWORK_DOORS.some((each) => each === door)) return undefined
  return `${JSON.stringify(text)} names no door: write *, ${NETWORK_DOORS.join(', ')}, or one of them with an instance, as in rest@team-a`
}

export function networkGrants(allow: readonly string[]): NetworkGrants {
  const grants = allow.map(grantOf)
  return (door, instance) =>
    grants.some((one) => (one.door === '*' || one.door === door) && (one.instance ?? instance) === instance)
}

/** Why a task may not use a network, and what the operator can do about it. */
export const networkRefusal = (door: NetworkDoor, instance: InstanceName): string =>
  `the task asks for a network, which this server does not grant to tasks of ${
    instance === '' ? 'the default instance' : `instance ${JSON.stringify(instance.slice(0, 100))}`
  } that come through the ${door} door; the operator can grant it with allow = ["${door}"] under [execution.network]`
