import type { OutputPiece } from '../../../engine/tasks/output-ring.ts'
import { brokenTail, type Encoding, encodedText } from '../../../services/snippets/output-text.ts'

type Stream = OutputPiece['stream']

/** The position of a reader in the output of a task: the attempt, and the offset in each of its streams. */
export interface OutputPosition {
  readonly attempt: number
  readonly stdout: number
  readonly stderr: number
}

const FORM = /^(\d{1,9})\.(\d{1,15})\.(\d{1,15})$/

export const positionText = ({ attempt, stdout, stderr }: OutputPosition): string => `${attempt}.${stdout}.${stderr}`

/** An invalid position counts as the beginning: the reader then gets the output again. */
export function positionIn(word: string | undefined): OutputPosition {
  const [, attempt = 0, stdout = 0, stderr = 0] = (FORM.exec(word ?? '') ?? []).map(Number)
  return { attempt, stdout, stderr }
}

export interface OutputView {
  readonly stream: Stream
  readonly attempt: number
  readonly text: string
  /** The number of bytes before this piece that are no longer held. */
  readonly missed: number
  readonly place: OutputPosition
}

/** Makes output events from a position on; characters whose bytes come in two pieces are kept whole. */
export function outputViews(from: OutputPosition, encoding: Encoding): (piece: OutputPiece) => OutputView | undefined {
  let attempt = from.attempt
  let read: Record<Stream, number> = { stdout: from.stdout, stderr: from.stderr }
  /** Bytes after the position that are not a whole character yet. */
  let carried: Record<Stream, Uint8Array> = { stdout: NONE, stderr: NONE }
  return ({ stream, attempt: printedBy, bytes, at, missed }) => {
    if (printedBy < attempt) return undefined
    if (printedBy > attempt) {
      attempt = printedBy
      read = { stdout: 0, stderr: 0 }
      carried = { stdout: NONE, stderr: NONE }
    }
    const expected = read[stream] + carried[stream].length
    const begin = at ?? expected
    const end = begin + bytes.length
    if (end <= expected) return undefined
    const fresh = begin > expected ? bytes : Buffer.concat([carried[stream], bytes.subarray(expected - begin)])
    const whole = encoding === 'utf8' ? fresh.length - brokenTail(fresh) : fresh.length
    carried[stream] = fresh.slice(whole)
    read[stream] = end - carried[stream].length
    if (whole === 0) return undefined
    const text = encodedText(fresh.subarray(0, whole), encoding)
    return { stream, attempt, text, missed, place: { attempt, ...read } }
  }
}

const NONE = new Uint8Array()
