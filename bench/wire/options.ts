import { parseArgs } from 'node:util'

export interface Options {
  /** Small counts, one round: checks only that all contestants answer correctly. */
  readonly smoke: boolean
  readonly rounds: number
  /** The file for the raw results of the rounds. */
  readonly json: string | undefined
}

const MOST_ROUNDS = 50

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: { smoke: { type: 'boolean', default: false }, rounds: { type: 'string' }, json: { type: 'string' } },
  })
  const rounds = Number(values.rounds ?? (values.smoke ? 1 : 5))
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > MOST_ROUNDS) {
    throw new Error(`--rounds is a number from 1 to ${MOST_ROUNDS}`)
  }
  return { smoke: values.smoke, rounds, json: values.json }
}
