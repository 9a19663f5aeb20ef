import type { OutputPiece } from '../../../engine/tasks/output-ring.ts'
import type { CommandResult } from '../../../model/command-task.ts'
import { type OutputFrame, outputFrames } from '../printed.ts'

export interface PistonOutput {
  readonly stream: OutputPiece['stream']
  readonly data: string
}

/** The output of a program as text, once and in order. A character is sent when its last byte has come. */
export interface PistonText {
  piece(piece: OutputPiece): PistonOutput[]
  /** Output in the result that was not sent live, and incomplete characters. */
  rest(result: CommandResult | undefined): PistonOutput[]
}

/** As `printed` names them in the first byte of a frame. */
const STREAMS = { 1: 'stdout', 2: 'stderr' } as const

export function pistonText(): PistonText {
  const frames = outputFrames('binary')
  const decoders = { stdout: decoder(), stderr: decoder() }
  const told = (frame: OutputFrame): PistonOutput[] => {
    if (typeof frame === 'string') return [] // says how much was lost, for which Piston has no word
    const stream = STREAMS[frame[0] as keyof typeof STREAMS]
    const data = decoders[stream].decode(frame.subarray(1), { stream: true })
    return data === '' ? [] : [{ stream, data }]
  }
  return {
    piece: (piece) => frames.piece(piece).flatMap(told),
    rest(result) {
      const last = result === undefined ? [] : frames.rest(result).flatMap(told)
      const ends = (['stdout', 'stderr'] as const).map((stream) => ({ stream, data: decoders[stream].decode() }))
      return [...last, ...ends.filter(({ data }) => data !== '')]
    },
  }
}

const decoder = () => new TextDecoder('utf-8', { ignoreBOM: true })
