import type { Launcher } from '../launcher/launcher.ts'
import { SpawnerLink, type SpawnerLinkOptions } from './spawner-link.ts'

/**
 * Never spawn from a fat process: starting a program from a process with 2 GB resident takes 87 ms, from a small one
 * 1.4 ms. So a worker keeps a small process whose only job is to start others. When that one dies, what it had started is
 * killed, and another is started for the next order.
 */
export function spawner(options: SpawnerLinkOptions): Launcher {
  let link: SpawnerLink | undefined
  let isClosed = false
  const living = (): SpawnerLink => {
    if (isClosed) throw new Error('the spawner is closed')
    if (link === undefined || link.isDead) link = new SpawnerLink(options)
    return link
  }
  living() // the first order should not have to wait for it
  return {
    facts: () => living().facts,
    expect: () => living().expect(),
    start: (order, listener) => living().start(order, listener),
    async close() {
      isClosed = true
      await link?.close()
    },
  }
}
