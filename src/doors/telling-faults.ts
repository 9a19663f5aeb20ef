import { FaultError } from '../base/fault.ts'
import type { Method, Service } from '../grpc/service.ts'
import { GrpcError } from '../grpc/status.ts'
import { faultStatus } from '../wire/grpc-fault.ts'

/** Tells the caller of a fault in gRPC's words: code, message and, where they help, details. Anything else is a bug. */
export const tellingFaults = (service: Service): Service => ({
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
  const { code, message, details } = faultStatus(error)
  throw new GrpcError(code, message, details === undefined ? { cause: error } : { details, cause: error })
}
