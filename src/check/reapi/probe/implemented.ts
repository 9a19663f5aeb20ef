import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { ensure, NotOffered } from '../../unmet.ts'

/**
 * A missing method is one failure, of the behaviour about that method; all other behaviours that need it are not
 * offered.
 */
export async function ifImplemented<T>(method: string, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    const isAbsent = error instanceof GrpcError && error.code === STATUS.unimplemented
    throw isAbsent ? new NotOffered(`needs ${method}, which is UNIMPLEMENTED`) : error
  }
}

/** Other behaviours check the result of the call. */
export async function implemented(call: Promise<unknown>): Promise<void> {
  const ending = await call.catch((error: unknown) => error)
  ensure(!(ending instanceof NotOffered), 'an answer', 'UNIMPLEMENTED')
}
