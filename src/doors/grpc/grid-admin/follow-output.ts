import { FaultError } from '../../../base/fault.ts'
import type { OutputListener } from '../../../engine/tasks/output-ring.ts'
import type { Outgoing, ServerStreamingMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import { followFromProto, printedToProto } from '../../../wire/admin/grid.ts'
import { findTask } from './find-task.ts'
import type { GridAdminOptions } from './options.ts'

/**
 * Streams the output of a task. The engine keeps the newest part: a slow reader misses some, and delays no other
 * reader.
 */
export const followOutput = ({ engine, ending }: GridAdminOptions): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const { name, once } = followFromProto(bytes)
    const { operation } = await findTask(name, engine)
    let wake: () => void = () => {}
    const rouse = (): void => wake()
    const listener = await engine.listenOutput(LOCAL_CALLER, operation, rouse)
    if (listener === undefined) return
    const ends = [call.signal, ending]
    for (const end of ends) end.addEventListener('abort', rouse)
    try {
      while (!(await tellAll(listener, out, ends)) && !once) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (ending.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
    } finally {
      for (const end of ends) end.removeEventListener('abort', rouse)
      listener.close()
    }
  },
})

/** All that there is to tell; answers whether that was the last of it. */
async function tellAll(listener: OutputListener, out: Outgoing, ends: readonly AbortSignal[]): Promise<boolean> {
  for (;;) {
    if (ends.some(({ aborted }) => aborted)) return true
    const piece = listener.next()
    if (piece === undefined) return listener.isEnded
    if (!out.write(printedToProto(piece))) await out.drained()
  }
}
