import type { UnaryMethod } from '../../grpc/service.ts'

/**
 * For reads whose answers may be large, and whose size nobody knows before they are made: an answer that finds no room
 * is let go and made again once there is, so that it does not wait in memory for a peer that does not read.
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

/** For methods that answer with about what they were sent. */
export const makingRoomForEcho = (method: UnaryMethod): UnaryMethod => ({
  ...needingItsRequest(method),
  handle(request, call) {
    const room = call.room(request.length)
    return room === undefined ? method.handle(request, call) : room.then(() => method.handle(request, call))
  },
})

/** Whoever runs a handler later needs the request for as long. */
function needingItsRequest({ readsAtOnce: _, ...method }: UnaryMethod): UnaryMethod {
  return method
}
