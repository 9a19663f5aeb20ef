import { parseArgs } from 'node:util'

export interface Options {
  /** Few of everything, nothing judged: whether it works at all. */
  readonly smoke: boolean
  /** How the server's memory fares over a hundred thousand tasks, instead of all else. */
  readonly long: boolean
  /** Of each row. */
  readonly seconds: number
  /** Of the worker; undefined for as many as it takes by itself. */
  readonly slots: number | undefined
  /** Rows whose name holds this. */
  readonly only: string
}

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      slots: { type: 'string' },
      only: { type: 'string', default: '' },
    },
  })
  const seconds = Number(values.seconds ?? (values.smoke ? 1 : 10))
  const slots = values.slots === undefined ? undefined : Number(values.slots)
  if (!(seconds > 0)) throw new Error('--seconds is a number above 0')
  if (slots !== undefined && !(slots >= 1)) throw new Error('--slots is a number from 1 on')
  return { smoke: values.smoke, long: values.long, seconds, slots, only: values.only }
}
