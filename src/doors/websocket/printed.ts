import type { OutputPiece } from '../../engine/tasks/output-ring.ts'
import type { CommandResult } from '../../model/command-task.ts'
import { brokenTail, encodedText } from '../../services/snippets/output-text.ts'

/** How a client receives output. `binary`: frames of bytes, whose first byte names the stream. */
export const OUTPUT_FORMS = ['utf8', 'base64', 'binary'] as const
export type OutputForm = (typeof OUTPUT_FORMS)[number]

type Stream = OutputPiece['stream']

/** A message for the client: text, or bytes. */
export type OutputFrame = string | Uint8Array

/** The first byte of a frame of bytes. */
const STREAM_BYTE = { stdout: 1, stderr: 2 } as const satisfies Record<Stream, number>
const STREAMS = ['stdout', 'stderr'] as const

/** The output of a program in the requested form, once and in order. */
export interface OutputFrames {
  piece(piece: OutputPiece): OutputFrame[]
  /** Output in the result that was not sent live. */
  rest(result: CommandResult): OutputFrame[]
}

export function outputFrames(form: OutputForm): OutputFrames {
  const read: Record<Stream, number> = { stdout: 0, stderr: 0 }
  /** The first bytes of a character whose other bytes have not arrived yet. */
  const carried: Record<Stream, Uint8Array> = { stdout: NONE, stderr: NONE }

  function framesOf(stream: Stream, fresh: Uint8Array, missed: number): OutputFrame[] {
    if (form === 'binary') return [...lost(stream, missed), Buffer.concat([Buffer.of(STREAM_BYTE[stream]), fresh])]
    if (form === 'base64') return [outputText(stream, encodedText(fresh, 'base64'), missed)]
    const bytes = Buffer.concat([carried[stream], fresh])
    const whole = bytes.length - brokenTail(bytes)
    carried[stream] = bytes.subarray(whole)
    return whole === 0 && missed === 0
      ? []
      : [outputText(stream, encodedText(bytes.subarray(0, whole), 'utf8'), missed)]
  }

  return {
    piece({ stream, bytes, at = read[stream] }) {
      const fresh = bytes.subarray(Math.max(0, read[stream] - at))
      const missed = Math.max(0, at - read[stream])
      read[stream] = Math.max(read[stream], at + bytes.length)
      return fresh.length === 0 ? [] : framesOf(stream, fresh, missed)
    },
    rest(result) {
      return STREAMS.flatMap((stream) => {
        const { bytes, isWhole } = allOf(result, stream)
        const fresh = isWhole ? bytes.subarray(read[stream]) : NONE
        // An incomplete character at the end stays incomplete.
        const tail = form === 'utf8' ? encodedText(Buffer.concat([carried[stream], fresh]), 'utf8') : undefined
        carried[stream] = NONE
        if (tail !== undefined) return tail === '' ? [] : [outputText(stream, tail, 0)]
        return fresh.length === 0 ? [] : framesOf(stream, fresh, 0)
      })
    },
  }
}

const NONE: Uint8Array = new Uint8Array()

const outputText = (stream: Stream, data: string, missed: number): string =>
  JSON.stringify({ type: 'output', stream, data, ...(missed > 0 && { missed }) })

const lost = (stream: Stream, missed: number): string[] => (missed === 0 ? [] : [outputText(stream, '', missed)])

/** All stages print into the same two streams. Output that is too long for a result was sent live before the end. */
function allOf({ stages }: CommandResult, stream: Stream): { readonly bytes: Uint8Array; readonly isWhole: boolean } {
  const parts = stages.map((stage) => stage[stream])
  return {
    bytes: Buffer.concat(parts.map(({ inline }) => inline ?? NONE)),
    isWhole: parts.every(({ digest, droppedBytes }) => digest === undefined && droppedBytes === 0),
  }
}
