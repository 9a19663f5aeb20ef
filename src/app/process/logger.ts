import { type DestinationStream, destination, pino } from 'pino'
import type { Log } from '../../base/log.ts'

export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly format: 'auto' | 'pretty' | 'json'
}

/** Field names that contain secrets, at the top of a line or one level down. */
const SECRET = ['authorization', 'cookie', 'password', 'secret', 'token', 'api_key', 'apiKey', 'x-api-key']

/**
 * Log lines go to standard error; standard output is for results. Each line is written at once: after a crash the last
 * line matters most.
 */
export async function createLogger(
  settings: LogSettings,
  isTerminal: boolean,
  to?: DestinationStream,
): Promise<LeveledLog> {
  const pretty = settings.format === 'pretty' || (settings.format === 'auto' && isTerminal)
  const out = to ?? destination({ dest: 2, sync: true })
  // Typed by name: pino's own type allows any level, including `then`, which no async function may return.
  const log: Log = pino(
    {
      level: 'debug', // lines below the configured level never get here
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

/** A log whose level can be changed for all its children at once: pino's children keep their own. */
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

/** Loaded on demand: loading it takes as long as loading the logger itself. */
async function prettyLines(out: DestinationStream, colorize: boolean): Promise<DestinationStream> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
  return { write: (line) => out.write(format(line)) }
}
