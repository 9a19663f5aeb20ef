import type { Any } from '../gen/google/protobuf/any.ts'
import * as rpc from '../gen/google/rpc/error_details.ts'
import { Status } from '../gen/google/rpc/status.ts'
import { durationFromProto, durationToProto } from './time.ts'

/** A google.rpc.Status: how a call, or one item of a batch, ended. */
export interface StatusReport {
  /** A gRPC status code; unknown numbers are kept. */
  readonly code: number
  readonly message: string
  readonly details: readonly StatusDetail[]
}

/** The bytes for grpc-status-details-bin. They repeat code and message: clients ignore details that disagree. */
export const statusDetails = (code: number, message: string, details: readonly StatusDetail[]): Uint8Array =>
  Status.encode({ code, message, details: details.map(detailToProto) }).finish()

export function statusFromProto(bytes: Uint8Array): StatusReport {
  const { code, message, details } = Status.decode(bytes)
  return { code, message, details: details.map(detailFromProto) }
}

/** The machine-readable details of an error, under the names of google/rpc/error_details.proto. */
interface Details {
  RetryInfo: { readonly retryDelayMs: number }
  ErrorInfo: { readonly reason: string; readonly domain: string; readonly metadata: Readonly<Record<string, string>> }
  DebugInfo: { readonly stackEntries: readonly string[]; readonly detail: string }
  PreconditionFailure: { readonly violations: readonly PreconditionViolation[] }
  QuotaFailure: { readonly violations: readonly { readonly subject: string; readonly description: string }[] }
  BadRequest: { readonly fieldViolations: readonly { readonly field: string; readonly description: string }[] }
  RequestInfo: { readonly requestId: string; readonly servingData: string }
  ResourceInfo: {
    readonly resourceType: string
    readonly resourceName: string
    readonly owner: string
    readonly description: string
  }
  Help: { readonly links: readonly { readonly description: string; readonly url: string }[] }
  LocalizedMessage: { readonly locale: string; readonly message: string }
}

/** Remote execution reports a missing blob as type `MISSING` and subject `blobs/{hash}/{size}`. */
export interface PreconditionViolation {
  readonly type: string
  readonly subject: string
  readonly description: string
}

type Kind = keyof Details
type KnownDetail<K extends Kind = Kind> = { [P in K]: { readonly kind: P } & Details[P] }[K]

export type StatusDetail =
  | KnownDetail
  /** A message that we do not know; its bytes are kept. */
  | { readonly kind: 'unknown'; readonly typeUrl: string; readonly value: Uint8Array }

type Codec<K extends Kind> = {
  readonly toProto: (detail: Details[K]) => Uint8Array
  readonly fromProto: (bytes: Uint8Array) => Details[K]
}

interface Message<T> {
  encode(message: T): { finish(): Uint8Array }
  decode(bytes: Uint8Array): T
}

/** For a detail with the fields of its message. */
const sameFields = <T>(message: Message<T>) => ({
  toProto: (detail: T) => message.encode(detail).finish(),
  fromProto: (bytes: Uint8Array) => message.decode(bytes),
})

const CODECS: { readonly [K in Kind]: Codec<K> } = {
  RetryInfo: {
    toProto: ({ retryDelayMs }) => rpc.RetryInfo.encode({ retryDelay: durationToProto(retryDelayMs) }).finish(),
    fromProto: (bytes) => ({ retryDelayMs: durationFromProto(rpc.RetryInfo.decode(bytes).retryDelay) }),
  },
  ErrorInfo: sameFields(rpc.ErrorInfo),
  DebugInfo: sameFields(rpc.DebugInfo),
  PreconditionFailure: sameFields(rpc.PreconditionFailure),
  QuotaFailure: {
    toProto: (detail) => rpc.QuotaFailure.encode(rpc.QuotaFailure.fromPartial(detail)).finish(),
    fromProto: (bytes) => ({
      violations: rpc.QuotaFailure.decode(bytes).violations.map(({ subject, description }) => ({
        subject,
        description,
      })),
    }),
  },
  BadRequest: {
    toProto: ({ fieldViolations }) => rpc.BadRequest.encode(rpc.BadRequest.fromPartial({ fieldViolations })).finish(),
    fromProto: (bytes) => ({
      fieldViolations: rpc.BadRequest.decode(bytes).fieldViolations.map(({ field, description }) => ({
        field,
        description,
      })),
    }),
  },
  RequestInfo: sameFields(rpc.RequestInfo),
  ResourceInfo: sameFields(rpc.ResourceInfo),
  Help: sameFields(rpc.Help),
  LocalizedMessage: sameFields(rpc.LocalizedMessage),
}

const TYPE_PREFIX = 'type.googleapis.com/google.rpc.'

export function detailToProto(detail: StatusDetail): Any {
  if (detail.kind === 'unknown') return { typeUrl: detail.typeUrl, value: detail.value }
  return { typeUrl: TYPE_PREFIX + detail.kind, value: knownToProto(detail) }
}

const knownToProto = <K extends Kind>(detail: KnownDetail<K>): Uint8Array => CODECS[detail.kind].toProto(detail)

/** Only the part after the last slash names the type; any host may precede it. */
export function detailFromProto({ typeUrl, value }: Any): StatusDetail {
  const name = typeUrl.slice(typeUrl.lastIndexOf('/') + 1)
  const kind = name.startsWith('google.rpc.') ? name.slice('google.rpc.'.length) : ''
  return isKind(kind) ? knownFromProto(kind, value) : { kind: 'unknown', typeUrl, value }
}

const isKind = (name: string): name is Kind => Object.hasOwn(CODECS, name)

const knownFromProto = <K extends Kind>(kind: K, value: Uint8Array): KnownDetail<K> => ({
  kind,
  ...CODECS[kind].fromProto(value),
})
