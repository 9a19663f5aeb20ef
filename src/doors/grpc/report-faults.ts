import { type Fault, FaultError } from '../../base/fault.ts'
import type { Method, Service } from '../../grpc/service.ts'
import { GrpcError } from '../../grpc/status.ts'
import { statusDetails, statusFromProto } from '../../wire/google/status.ts'
import { type FaultStatus, faultStatus } from '../../wire/reapi/grpc-fault.ts'

/** Many clients take 8 KiB of trailers and break the call off at more; ours are not the only ones. */
const MOST_TRAILER_BYTES = 7 * 1024
const MOST_MESSAGE_BYTES = 700
/** More would not fit in any case, and an action may lack a million. */
const MOST_NAMED = 64

/** Tells the caller of a fault in gRPC's words: code, message and, where they help, details. Anything else is a bug. */
export const reportingFaults = (service: Service): Service => ({
  ...service,
  methods: Object.fromEntries(Object.entries(service.methods).map(([name, method]) => [name, telling(method)])),
})

function telling(method: Method): Method {
  // The kinds differ in what a handler is given; what it is given does not matter here.
  const handle = (method.handle as (...given: unknown[]) => unknown).bind(method)
  return { ...method, handle: (...given: unknown[]) => told(() => handle(...given)) } as Method
}

function told<T>(run: () => T): T {
  try {
    const answer = run()
    return answer instanceof Promise ? (answer.catch(tell) as T) : answer
  } catch (error) {
    return tell(error)
  }
}

function tell(error: unknown): never {
  if (!(error instanceof FaultError)) throw error
  const { code, message, details } = error.fault.kind === 'missing' ? missing(error, error.fault) : short(error)
  throw new GrpcError(code, message, details === undefined ? { cause: error } : { details, cause: error })
}

function short(error: FaultError): FaultStatus {
  const { code, message, details } = faultStatus(error)
  const words = shortened(message)
  if (details === undefined || words === message) return { code, message: words, ...(details && { details }) }
  return { code, message: words, details: statusDetails(code, words, statusFromProto(details).details) }
}

/** Names as many blobs as fit, and their total: a client that uploads those and retries gets the next ones. */
function missing({ message }: FaultError, { digests }: Missing): FaultStatus {
  for (let count = Math.min(digests.length, MOST_NAMED); ; count--) {
    const { code, details } = faultStatus(new FaultError({ kind: 'missing', digests: digests.slice(0, count) }))
    const isAll = count === digests.length
    const words = isAll ? message : `${message} (the first ${count} of ${digests.length} are named)`
    const told = details && statusDetails(code, words, statusFromProto(details).details)
    if (told === undefined || count === 0 || told.length <= roomBeside(words)) {
      return { code, message: words, ...(told && { details: told }) }
    }
  }
}

type Missing = Extract<Fault, { kind: 'missing' }>

/** The message travels beside the details, in the worst case with each byte as three; details grow by a third in base64. */
const roomBeside = (message: string): number =>
  ((MOST_TRAILER_BYTES - encodeURIComponent(message.toWellFormed()).length) * 3) / 4

/** Names that callers made up stand in messages; a character of several bytes is never cut in two. */
function shortened(message: string): string {
  if (Buffer.byteLength(message) <= MOST_MESSAGE_BYTES) return message
  const cut = new TextDecoder().decode(Buffer.from(message).subarray(0, MOST_MESSAGE_BYTES))
  return `${cut.replace(/\uFFFD+$/, '')}…`
}
