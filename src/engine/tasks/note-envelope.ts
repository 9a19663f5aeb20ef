/** How an operation's note lies in the journal: a byte of flags, then the door's bytes. Nothing to say is no note. */
import type { Durability } from '../../storage/journal/fact.ts'

const FLAG = { needsWaiter: 1, power: 2, note: 4 } as const

export interface SealedNote {
  readonly needsWaiter: boolean
  /** The word that this operation's client was given. */
  readonly durability: Durability
  readonly note: Uint8Array | undefined
}

export function sealNote({ needsWaiter, durability, note }: SealedNote): Uint8Array | undefined {
  const flags =
    (needsWaiter ? FLAG.needsWaiter : 0) | (durability === 'power' ? FLAG.power : 0) | (note ? FLAG.note : 0)
  if (flags === 0) return undefined
  const bytes = Buffer.allocUnsafe(1 + (note?.length ?? 0))
  bytes[0] = flags
  if (note !== undefined) bytes.set(note, 1)
  return bytes
}

export function openNote(bytes: Uint8Array | undefined): SealedNote {
  const flags = bytes?.[0] ?? 0
  return {
    needsWaiter: (flags & FLAG.needsWaiter) !== 0,
    durability: flags & FLAG.power ? 'power' : 'process',
    note: flags & FLAG.note ? bytes?.subarray(1) : undefined,
  }
}
