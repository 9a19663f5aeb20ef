import { type Fault, FaultError } from '../../base/fault.ts'
import type { Method, Service } from '../../grpc/service.ts'
import { GrpcError } from '../../grpc/status.ts'
import { statusDetails, statusFromProto } from '../../wire/google/status.ts'
import { type FaultStatus, faultStatus } from '../../wire/reapi/grpc-fault.ts'

/** Many clients cancel a call with more than 8 KiB of trailers; proxies may add trailers of their own. */
const MOST_TRAILER_BYTES = 7 * 1024
const MOST_MESSAGE_BYTES = 700
/** Trailers never hold more digests than this; an action may lack a million blobs. */
const MOST_NAMED = 64

/** Converts faults to gRPC errors: code, message and, for some, details. Any other exception is a bug. */
export const reportingFaults = (service: Service): Service => ({
  ...service,
  methods: Object.fromEntries(Object.entries(service.methods).map(([name, method]) => [name, reportingMethod(method)])),
})

function reportingMethod(method: Method): Method {
  // The arguments of a handler depend on the kind of method, but do not matter here.
  const handle = (method.handle as (...given: unknown[]) => unknown).bind(method)
  return { ...method, handle: (...given: unknown[]) => withGrpcErrors(() => handle(...given)) } as Method
}

function withGrpcErrors<T>(run: () => T): T {
  try {
    const answer = run()
    return answer instanceof Promise ? (answer.catch(throwGrpcError) as T) : answer
  } catch (error) {
    return throwGrpcError(error)
  }
}

function throwGrpcError(error: unknown): never {
  if (!(error instanceof FaultError)) throw error
  const { code, message, details } = error.fault.kind === 'missing' ? missing(error, error.fault) : short(error)
  throw new GrpcError(code, message, details === undefined ? { cause: error } : { details, cause: error })
}

function short(error: FaultError): FaultStatus {
  const { code, message, details } = faultStatus(error)
  const text = shortened(message)
  if (details === undefined || text === message) return { code, message: text, ...(details && { details }) }
  return { code, message: text, details: statusDetails(code, text, statusFromProto(details).details) }
}

/** Names as many blobs as fit, and their total: a client that uploads those and retries gets the next ones. */
function missing({ message }: FaultError, { digests }: Missing): FaultStatus {
  for (let count = Math.min(digests.length, MOST_NAMED); ; count--) {
    const { code, details } = faultStatus(new FaultError({ kind: 'missing', digests: digests.slice(0, count) }))
    const isAll = count === digests.length
    const text = isAll ? message : `${message} (the first ${count} of ${digests.length} are named)`
    const named = details && statusDetails(code, text, statusFromProto(details).details)
    if (named === undefined || count === 0 || named.length <= roomBeside(text)) {
      return { code, message: text, ...(named && { details: named }) }
    }
  }
}

type Missing = Extract<Fault, { kind: 'missing' }>

/**
 * The trailers also hold the message, percent-encoded with up to three bytes per byte; base64 adds a third to details.
 */
const roomBeside = (message: string): number =>
  ((MOST_TRAILER_BYTES - encodeURIComponent(message.toWellFormed()).length) * 3) / 4

/** Messages contain names that clients chose, of any length. A character of several bytes is never cut in two. */
function shortened(message: string): string {
  if (Buffer.byteLength(message) <= MOST_MESSAGE_BYTES) return message
  const cut = new TextDecoder().decode(Buffer.from(message).subarray(0, MOST_MESSAGE_BYTES))
  return `${cut.replace(/\uFFFD+$/, '')}…`
}
