import { FaultError } from '../../../base/fault.ts'
import type { EngineFigures } from '../../../engine/queries.ts'
import type { ServerStreamingMethod } from '../../../grpc/service.ts'
import type { GridFigures } from '../../../model/grid-view.ts'
import { gridFiguresToProto, watchGridFromProto } from '../../../wire/admin/grid-figures.ts'
import type { GridAdminOptions, TaskTally } from './options.ts'

/** Clients choose the properties of their tasks, so there may be any number of queues. */
const MOST_QUEUES = 20

/** Sends figures at once and then at each interval; a slow reader gets them less often. */
export const watchGrid = ({ engine, clock, tally, ending }: GridAdminOptions): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const intervalMs = watchGridFromProto(bytes)
    const { signal } = call
    while (!signal.aborted) {
      if (ending.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
      const figures = gridFigures(await engine.figures(), tally(), clock.now())
      if (!out.write(gridFiguresToProto(figures))) await out.drained()
      await new Promise<void>((resolve) => {
        const done = (): void => {
          for (const end of [signal, ending]) end.removeEventListener('abort', done)
          stop()
          resolve()
        }
        const stop = clock.after(intervalMs, done)
        for (const end of [signal, ending]) end.addEventListener('abort', done)
      })
    }
  },
})

function gridFigures(figures: EngineFigures, { accepted, ended }: TaskTally, now: number): GridFigures {
  const { queued, active, tasks, workers, slots, bySignature, journalTrouble = '' } = figures
  return {
    ...{ now, queued, active, tasks, workers, accepted, ended, journalTrouble },
    slots: slots.total,
    usedSlots: slots.used,
    queues: Array.from(bySignature, ([asksFor, count]) => ({ asksFor, ...count }))
      .sort((one, other) => other.queued - one.queued || other.active - one.active)
      .slice(0, MOST_QUEUES),
  }
}
