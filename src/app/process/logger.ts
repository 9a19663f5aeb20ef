import { type DestinationStream, destination, pino } from 'pino'
import type { Log } from '../../base/log.ts'

export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly format: 'auto' | 'pretty' | 'json'
}

/** Names that stand for secrets wherever they turn up, at the top of a line or one level down. */
const SECRET = ['authorization', 'cookie', 'password', 'secret', 'token', 'api_key', 'apiKey', 'x-api-key']

/**
 * Log lines go to standard error, standard output is for answers. They are written at once rather than gathered:
 * whoever reads a log after a crash wants the last line most.
 */
export async function createLogger(
  settings: LogSettings,
  isTerminal: boolean,
  to?: DestinationStream,
): Promise<LeveledLog> {
  const pretty = settings.format === 'pretty' || (settings.format === 'auto' && isTerminal)
  const out = to ?? destination({ dest: 2, sync: true })
  // The name has a type: pino's own could hold any level, `then` included, which no async function may return.
  const log: Log = pino(
    {
      level: 'debug', // what is below the level of the settings never gets here
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET.flatMap((name) => [quoted(name), `*${quoted(name)}`]), censor: '[redacted]' },
    },
    pretty ? await prettyLines(out, isTerminal) : out,
  )
  const least = { rank: RANKS[settings.level] }
  return {
    ...leveled(log, least),
    setLevel(level) {
      least.rank = RANKS[level]
    },
  }
}

/** A log whose level can change while it is used, for all its children at once: children of pino keep their own. */
export interface LeveledLog extends Log {
  setLevel(level: LogSettings['level']): void
}

const RANKS = { debug: 0, info: 1, warn: 2, error: 3 } as const

function leveled(inner: Log, least: { readonly rank: number }): Log {
  const at = (level: keyof typeof RANKS) => (fields: object, message: string) => {
    if (RANKS[level] >= least.rank) inner[level](fields, message)
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => leveled(inner.child(fields), least),
  }
}

const quoted = (name: string): string => `["${name}"]`

/** Loaded when wanted: it takes as long as the logger itself. */
async function prettyLines(out: DestinationStream, colorize: boolean): Promise<DestinationStream> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
  return { write: (line) => out.write(format(line)) }
}
