import { parseArgs } from 'node:util'

export interface Options {
  /** Short rows whose bars are not judged: tests that the bench runs. */
  readonly smoke: boolean
  /** Measures only the memory of the server over 100,000 tasks. */
  readonly long: boolean
  /** The length of each row. */
  readonly seconds: number
  /** The slots of the worker; undefined for its default. */
  readonly slots: number | undefined
  /** The runtime of the worker: `host`, `sandbox`, … */
  readonly backend: string
  /** Measures only the rows whose name contains this. */
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
      backend: { type: 'string', default: 'host' },
      only: { type: 'string', default: '' },
    },
  })
  const seconds = Number(values.seconds ?? (values.smoke ? 1 : 10))
  const slots = values.slots === undefined ? undefined : Number(values.slots)
  if (!(seconds > 0)) throw new Error('--seconds is a number above 0')
  if (slots !== undefined && !(slots >= 1)) throw new Error('--slots is a number from 1 on')
  return { smoke: values.smoke, long: values.long, seconds, slots, backend: values.backend, only: values.only }
}
