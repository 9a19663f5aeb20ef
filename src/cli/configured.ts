import type { Config } from '../app/config.ts'
import type { FlagSetting } from '../app/config-load.ts'
import type { Terminal } from '../app/terminal.ts'
import type { Log } from '../base/log.ts'

/** The settings that hold, and a log that has been told what is odd about them. */
export async function configured(
  file: string | undefined,
  flags: readonly FlagSetting[],
  { env, home, errIsTerminal }: Terminal,
): Promise<{ readonly config: Config; readonly log: Log }> {
  const { loadConfig } = await import('../app/config-load.ts')
  const { config, notes } = loadConfig({ file, env, home, flags })
  const { createLogger } = await import('../app/logger.ts')
  const log = await createLogger(config.log, errIsTerminal)
  for (const { level, what, keys } of notes) log[level]({ keys }, what)
  return { config, log }
}
