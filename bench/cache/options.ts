import { parseArgs } from 'node:util'

export interface Options {
  /** Small counts, one round, only Windlass and the plain server: checks only that the answers are correct. */
  readonly smoke: boolean
  readonly rounds: number
  /** Runs only rows whose name contains this. */
  readonly only: string | undefined
  /** The file for the raw results of the rounds. */
  readonly json: string | undefined
  /** Installs buildbox-casd first, if it is not there. */
  readonly withCasd: boolean
  /** Contestants to leave out, for work on the bench itself. */
  readonly without: readonly string[]
  /** Instead of the rows: a 4 GiB blob up and down. */
  readonly large: boolean
  /** Instead of the rows: a million blobs, and a restart. */
  readonly reopen: boolean
}

const MOST_ROUNDS = 50

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
      'with-casd': { type: 'boolean', default: false },
      without: { type: 'string', multiple: true, default: [] },
      large: { type: 'boolean', default: false },
      reopen: { type: 'boolean', default: false },
    },
  })
  const { smoke, only, json, large, reopen, without } = values
  const rounds = Number(values.rounds ?? (smoke ? 1 : 5))
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > MOST_ROUNDS) {
    throw new Error(`--rounds is a number from 1 to ${MOST_ROUNDS}`)
  }
  return { smoke, rounds, only, json, withCasd: values['with-casd'], without, large, reopen }
}
