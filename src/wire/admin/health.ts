import {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthListResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../gen/grpc/health/v1/health.ts'

/**
 * The state of a service; `unknown` for a service that the server does not have, and for a state that we do not know.
 */
export type Serving = 'serving' | 'notServing' | 'unknown'

const STATUS = {
  serving: ServingStatus.SERVING,
  notServing: ServingStatus.NOT_SERVING,
  unknown: ServingStatus.SERVICE_UNKNOWN,
} as const satisfies Record<Serving, ServingStatus>

/** Decodes the service name of Check and Watch. The empty name means the whole server. */
export const healthRequestFromProto = (bytes: Uint8Array): string => HealthCheckRequest.decode(bytes).service

export const healthRequestToProto = (service: string): Uint8Array => HealthCheckRequest.encode({ service }).finish()

export const servingFromProto = (bytes: Uint8Array): Serving => servingOf(HealthCheckResponse.decode(bytes))

export const servingToProto = (serving: Serving): Uint8Array =>
  HealthCheckResponse.encode({ status: STATUS[serving] }).finish()

export const healthListFromProto = (bytes: Uint8Array): Map<string, Serving> =>
  new Map(
    Object.entries(HealthListResponse.decode(bytes).statuses).map(([service, answer]) => [service, servingOf(answer)]),
  )

export function healthListToProto(list: ReadonlyMap<string, Serving>): Uint8Array {
  const statuses = Object.fromEntries([...list].map(([service, serving]) => [service, { status: STATUS[serving] }]))
  return HealthListResponse.encode({ statuses }).finish()
}

const servingOf = ({ status }: HealthCheckResponse): Serving =>
  status === STATUS.serving ? 'serving' : status === STATUS.notServing ? 'notServing' : 'unknown'
