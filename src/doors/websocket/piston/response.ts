import type { OutputPiece } from '../../../engine/tasks/output-ring.ts'
import type { CommandResult } from '../../../model/command-task.ts'
import { type OutputFrame, outputFrames } from '../printed.ts'

export interface PistonOutput {
  readonly stream: OutputPiece['stream']
  readonly data: string
}

/** The output of a program as text, once and in order. A character is sent when its last byte has arrived. */
export interface PistonText {
  piece(piece: OutputPiece): PistonOutput[]
  /** Output in the result that was not sent live, and incomplete characters. */
  rest(result: CommandResult | undefined): PistonOutput[]
}

/** The streams, by the first byte of a frame from `printed`. */
const STREAMS = { 1: 'stdout', 2: 'stderr' } as const

export function pistonText(): PistonText {
  const frames = outputFrames('binary')
  const decoders = { stdout: decoder(), stderr: decoder() }
  const outputOf = (frame: OutputFrame): PistonOutput[] => {
    if (typeof frame === 'string') return [] // a gap notice: Piston has no message for it
    const stream = STREAMS[frame[0] as keyof typeof STREAMS]
    const data = decoders[stream].decode(frame.subarray(1), { stream: true })
    return data === '' ? [] : [{ stream, data }]
  }
  return {
    piece: (piece) => frames.piece(piece).flatMap(outputOf),
    rest(result) {
      const last = result === undefined ? [] : frames.rest(result).flatMap(outputOf)
      const ends = (['stdout', 'stderr'] as const).map((stream) => ({ stream, data: decoders[stream].decode() }))
      return [...last, ...ends.filter(({ data }) => data !== '')]
    },
  }
}

const decoder = () => new TextDecoder('utf-8', { ignoreBOM: true })
