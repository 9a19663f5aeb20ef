import type { Log } from '../../base/log.ts'
import type { Observer } from '../../grpc/observer.ts'

/** Logs events that operators need: handlers that threw, and callers that were disconnected for abuse. */
export const logged = (inner: Observer, log: Log): Observer => ({
  ...inner,
  connectionClosed(why) {
    if (why.flood !== undefined) log.warn({ ...why }, 'gRPC connection closed for abuse')
    else if (why.code !== 0) log.debug({ ...why }, 'gRPC connection closed with an error')
    inner.connectionClosed(why)
  },
  handlerFailed(path, error) {
    log.error({ path, err: error }, 'gRPC handler failed')
    inner.handlerFailed(path, error)
  },
})
