/**
 * One input: the events of one connection, step by step. `bytes` come from the peer; `advance` moves the clock; `stall`
 * and `flow` make the socket refuse and accept writes; `turn` runs the event loop once. For the HPACK target each
 * `bytes` is a whole header block.
 */
export type Step =
  | { readonly do: 'bytes'; readonly bytes: Buffer }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'stall' | 'flow' | 'turn' }

export type TargetName = 'server' | 'client' | 'hpack'

export interface Input {
  readonly target: TargetName
  /** How the input was made, for the report. */
  readonly origin: string
  readonly steps: readonly Step[]
}

export const bytesOf = (input: Input): Buffer =>
  Buffer.concat(input.steps.map((step) => (step.do === 'bytes' ? step.bytes : Buffer.alloc(0))))

/** The text form that `--replay` reads. */
export function writeInput(input: Input, comment: string): string {
  const lines = input.steps.map((step) => {
    if (step.do === 'bytes') return `bytes ${step.bytes.toString('hex')}`
    return step.do === 'advance' ? `advance ${step.ms}` : step.do
  })
  return `${comment.replace(/^/gm, '# ')}\ntarget ${input.target}\norigin ${input.origin}\n${lines.join('\n')}\n`
}

export function readInput(text: string): Input {
  const steps: Step[] = []
  let target: TargetName = 'server'
  let origin = 'replay'
  for (const line of text.split('\n')) {
    const [word = '', rest = ''] = line.split(/ (.*)/)
    if (word === 'target') target = rest as TargetName
    else if (word === 'origin') origin = rest
    else if (word === 'bytes') steps.push({ do: 'bytes', bytes: Buffer.from(rest, 'hex') })
    else if (word === 'advance') steps.push({ do: 'advance', ms: Number(rest) })
    else if (word === 'stall' || word === 'flow' || word === 'turn') steps.push({ do: word })
  }
  return { target, origin, steps }
}
