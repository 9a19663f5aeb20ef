import { byService, type Result, type Tally, tally } from './behaviour.ts'

export interface TextOptions {
  /** Escape codes for colours, for people at a terminal. */
  readonly colours: boolean
}

type Paint = (text: string) => string

const painter =
  (code: number, on: boolean): Paint =>
  (text) =>
    on ? `\u001b[${code}m${text}\u001b[0m` : text

/** One line per service, then each failure with the expected and the observed behaviour. */
export function textReport(results: readonly Result[], { colours }: TextOptions): string {
  const [red, green, dim, bold] = [31, 32, 2, 1].map((code) => painter(code, colours)) as [Paint, Paint, Paint, Paint]
  const services = [...byService(results, ({ behaviour }) => behaviour.service)]
  const width = Math.max(7, ...services.map(([service]) => service.length))
  const line = (name: string, { passed, failed, notOffered }: Tally): string => {
    const cells = [`${passed}`.padStart(8), `${failed}`.padStart(8), `${notOffered}`.padStart(13)] as const
    const paintFailed = failed > 0 ? red : dim
    return `  ${name.padEnd(width)}${(failed > 0 ? dim : green)(cells[0])}${paintFailed(cells[1])}${dim(cells[2])}`
  }
  const rows = services.map(([service, items]) => line(service, tally(items)))
  const heading = bold(`  ${'service'.padEnd(width)}  passed  failed  not offered`)
  return [heading, ...rows, line('all', tally(results)), '', ...failures(results, red, dim)].join('\n')
}

function failures(results: readonly Result[], red: Paint, dim: Paint): string[] {
  return results.flatMap(({ behaviour, outcome }) => {
    if (outcome.kind !== 'failed') return []
    return [
      `  ${red('✗')} ${behaviour.id} ${dim(`(${behaviour.level})`)}`,
      `      ${behaviour.sentence}`,
      `      ${dim('expected')} ${outcome.expected}`,
      `      ${dim('saw     ')} ${outcome.seen}`,
      ...(behaviour.note === undefined ? [] : [`      ${dim('note    ')} ${behaviour.note}`]),
      '',
    ]
  })
}
