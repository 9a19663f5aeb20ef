import { GrpcError, STATUS } from '../../grpc/status.ts'
import { casRpcs } from '../cas/cas-rpcs.ts'
import type { RpcClient } from '../connection/rpc.ts'
import { gridClient } from './grid-client.ts'
import type { LiveOutput, Stream } from './live-output.ts'

const AGAIN_MS = 500

export interface TailOptions {
  readonly rpcs: RpcClient
  readonly operation: string
  /** A second source of the output, on servers other than Windlass. */
  readonly streams: Readonly<Record<Stream, string>> | undefined
  readonly output: LiveOutput
  /** Only what there is by now. */
  readonly once?: boolean
  readonly pause: (ms: number) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Shows the output of an operation until it ends or the signal aborts. Never throws: output that the live view lacks is
 * in the result.
 */
export async function showLive(options: TailOptions): Promise<void> {
  const { rpcs, operation, output, pause, signal } = options
  const grid = gridClient(rpcs, signal)
  while (!signal.aborted && !output.isLeft) {
    try {
      output.restart()
      for await (const piece of grid.follow({ name: operation, once: options.once ?? false })) {
        await output.live(piece)
        if (output.isLeft) return
      }
      return
    } catch (error) {
      const code = error instanceof GrpcError ? error.code : undefined
      if (code === STATUS.unimplemented) return await showLogStreams(options)
      if (code !== STATUS.unavailable) return
    }
    await pause(AGAIN_MS)
  }
}

/** Each for itself: which of the two came first is not known. */
async function showLogStreams({ rpcs, streams, output, signal }: TailOptions): Promise<void> {
  const { read } = casRpcs({ instance: '', fn: 'sha256' })
  const show = async (stream: Stream): Promise<void> => {
    const name = streams?.[stream] ?? ''
    if (name === '') return
    for await (const bytes of rpcs.stream(read, name, { signal })) {
      await output.live({ stream, attempt: 1, bytes, missed: 0 })
      if (output.isLeft) return
    }
  }
  await Promise.allSettled([show('stdout'), show('stderr')])
}
