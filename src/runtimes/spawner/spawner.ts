import type { Launcher } from '../launcher/launcher.ts'
import { SpawnerLink, type SpawnerLinkOptions } from './spawner-link.ts'

/**
 * A large process must not fork: starting a program from a process with 2 GB resident takes 87 ms, from a small one 1.4
 * ms. So a worker has a small child process that starts all programs. When it dies, the processes that it started are
 * killed, and the next launch starts another one.
 */
export function spawner(options: SpawnerLinkOptions): Launcher {
  let link: SpawnerLink | undefined
  let isClosed = false
  const living = (): SpawnerLink => {
    if (isClosed) throw new Error('the spawner is closed')
    if (link === undefined || link.isDead) link = new SpawnerLink(options)
    return link
  }
  living() // so that the first launch does not wait for it
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
