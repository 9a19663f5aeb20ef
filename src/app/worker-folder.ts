import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../base/fault.ts'
import { holdFolder } from '../storage/packs/folder-lock.ts'

export interface WorkFolder {
  readonly path: string
  release(): void
}

/** More workers than anybody runs on one machine without saying where. */
const MOST_UNNAMED = 64

/** The directory of one worker alone: what lies in it from before is its to remove. */
export function holdWorkFolder(named: string | undefined, dataDir: string, pid: number): WorkFolder {
  if (named !== undefined) return hold(named, pid)
  for (let number = 1; ; number++) {
    try {
      return hold(join(dataDir, `worker-${number}`), pid)
    } catch (error) {
      const isTaken = error instanceof FaultError && error.fault.kind === 'unavailable' && number < MOST_UNNAMED
      if (!isTaken) throw error
    }
  }
}

function hold(path: string, pid: number): WorkFolder {
  try {
    mkdirSync(path, { recursive: true, mode: 0o711 }) // commands of another user have to get through
  } catch (error) {
    throw new FaultError({ kind: 'invalid', what: `worker.host.work_dir: ${(error as Error).message}` }, error)
  }
  return { path, release: holdFolder(path, pid) }
}
