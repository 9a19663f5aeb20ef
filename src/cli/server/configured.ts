import type { Config } from '../../app/config/config.ts'
import type { FlagSetting } from '../../app/config/load.ts'
import type { LeveledLog } from '../../app/process/logger.ts'
import type { Terminal } from '../../app/process/terminal.ts'

export interface Configured {
  readonly config: Config
  readonly log: LeveledLog
  /** Reads the same sources again. */
  readonly load: () => Config
}

/** The effective settings, and a log that contains the warnings about them. */
export async function configured(
  file: string | undefined,
  flags: readonly FlagSetting[],
  { env, home, errIsTerminal }: Terminal,
): Promise<Configured> {
  const { loadConfig } = await import('../../app/config/load.ts')
  const load = () => loadConfig({ file, env, home, flags })
  const { config, notes } = load()
  const { createLogger } = await import('../../app/process/logger.ts')
  const log = await createLogger(config.log, errIsTerminal)
  for (const { level, what, keys } of notes) log[level]({ keys }, what)
  return { config, log, load: () => load().config }
}
