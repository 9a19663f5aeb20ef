import type { Log } from '../../base/log.ts'
import type { Config } from '../config/config.ts'
import { onHangup } from '../process/hangup.ts'
import type { LeveledLog } from '../process/logger.ts'
import { openControl } from './control.ts'
import type { ReloadReport } from './reload.ts'

export interface ReloadableOptions {
  /** Reads the settings again, from the same sources as at startup. Throws when they are invalid. */
  readonly load: () => Config
  readonly server: { reload(next: Config): ReloadReport }
  readonly dataDir: string
  readonly log: LeveledLog
  /** Called after each successful reload. */
  readonly reloaded?: () => void
}

/** Makes a server reload on SIGHUP and on `windlass reload`. The returned function ends it. */
export async function reloadable(options: ReloadableOptions): Promise<() => void> {
  const { load, server, dataDir, log } = options
  const reload = (): ReloadReport => {
    const next = load()
    const report = server.reload(next)
    log.setLevel(next.log.level)
    log.info({ ...report }, 'settings and certificates reloaded')
    options.reloaded?.()
    return report
  }
  const control = await openControl(dataDir, () => telling(reload, log), log)
  const forget = onHangup(() => {
    try {
      telling(reload, log)
    } catch {
      // the error is logged; the sender of a signal gets no answer
    }
  })
  return () => {
    forget()
    control.close()
  }
}

function telling(reload: () => ReloadReport, log: Log): ReloadReport {
  try {
    return reload()
  } catch (error) {
    log.error({ err: error }, 'settings not reloaded: nothing was changed')
    throw error
  }
}
