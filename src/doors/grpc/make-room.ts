import type { UnaryMethod } from '../../grpc/service.ts'

/**
 * For reads whose responses may be large and of unknown size. A response that does not fit into the connection's buffer
 * is discarded, and made again when there is space, so that it does not wait in memory for a peer that does not read.
 */
export const remakingForRoom = (method: UnaryMethod): UnaryMethod => ({
  ...needingItsRequest(method),
  handle(request, call) {
    const answer = method.handle(request, call)
    if (answer instanceof Uint8Array) return answer
    return answer.then((made) => {
      const room = call.room(made.length)
      return room === undefined ? made : room.then(() => method.handle(request, call))
    })
  },
})

/** For methods whose response is about as large as their request. */
export const makingRoomForEcho = (method: UnaryMethod): UnaryMethod => ({
  ...needingItsRequest(method),
  handle(request, call) {
    const room = call.room(request.length)
    return room === undefined ? method.handle(request, call) : room.then(() => method.handle(request, call))
  },
})

/** A handler that runs later needs its own copy of the request. */
function needingItsRequest({ readsAtOnce: _, ...method }: UnaryMethod): UnaryMethod {
  return method
}
