/** Starts the contestants, each in its own folder. */
import { join } from 'node:path'
import type { Contestant, ContestantName, Found } from './contestant.ts'
import type { Options } from './options.ts'
import { findBazelRemote } from './peers/bazel-remote.ts'
import { findBbStorage } from './peers/bb-storage.ts'
import { findCasd } from './peers/casd.ts'
import { startFloor } from './peers/floor.ts'
import { startPlain } from './peers/plain.ts'
import { startWindlass } from './peers/windlass.ts'

export interface Party extends AsyncDisposable {
  readonly contestants: readonly Contestant[]
  readonly absences: readonly string[]
}

/** Smoke runs use no programs from outside this repository. */
export async function gather(options: Options, folder: string): Promise<Party> {
  const started = async (contestant: Promise<Contestant>): Promise<Found> => ({ contestant: await contestant })
  const finders: Record<ContestantName, ((folder: string) => Promise<Found>) | undefined> = {
    windlass: (own) => started(startWindlass(own)),
    'bazel-remote': options.smoke ? undefined : findBazelRemote,
    bb_storage: options.smoke ? undefined : findBbStorage,
    'buildbox-casd': options.smoke ? undefined : (own) => findCasd(own, options.withCasd),
    plain: (own) => started(startPlain(own)),
    floor: (own) => started(startFloor(own)),
  }
  const contestants: Contestant[] = []
  const absences: string[] = []
  await using everyone = new AsyncDisposableStack()
  for (const [name, find] of Object.entries(finders)) {
    if (find === undefined || options.without.includes(name)) continue
    const found = await find(join(folder, name))
    if ('absent' in found) absences.push(`${name}: ${found.absent}`)
    else contestants.push(everyone.use(found.contestant))
  }
  const leave = everyone.move()
  return { contestants, absences, [Symbol.asyncDispose]: () => leave.disposeAsync() }
}
