import type { Terminal } from '../../app/process/terminal.ts'
import type { Clock } from '../../base/clock.ts'
import type { TransferMeter } from '../../client/cas/transfer-meter.ts'
import { bytesText, countText } from './text.ts'

const EVERY_MS = 100
const BAR = 20

/** A status line on standard error, on a terminal only. */
export interface StatusLine {
  /** Shows the status, unless it was shown just now. */
  show(text: () => string): void
  clear(): void
}

export function statusLine({ errIsTerminal, err }: Terminal, clock: Pick<Clock, 'monotonic'>): StatusLine {
  let shownAt = Number.NEGATIVE_INFINITY
  return {
    show(text) {
      if (!errIsTerminal || clock.monotonic() - shownAt < EVERY_MS) return
      shownAt = clock.monotonic()
      err(`\r\u001b[K${text()}`)
    },
    clear() {
      if (errIsTerminal && shownAt >= 0) err('\r\u001b[K')
    },
  }
}

export interface TransferTally extends TransferMeter {
  readonly movedBlobs: number
  readonly movedBytes: number
  readonly heldBlobs: number
  readonly heldBytes: number
}

/** Counts a transfer, and shows it as a bar. */
export function transferTally(line: StatusLine): TransferTally {
  const tally = { foundBlobs: 0, foundBytes: 0, movedBlobs: 0, movedBytes: 0, heldBlobs: 0, heldBytes: 0 }
  const words = (): string => {
    const part = tally.foundBytes === 0 ? 0 : Math.min(1, (tally.movedBytes + tally.heldBytes) / tally.foundBytes)
    const filled = Math.floor(part * BAR)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`
    const blobs = `${countText(tally.movedBlobs + tally.heldBlobs)} of ${countText(tally.foundBlobs)}`
    return `${bar} ${Math.floor(part * 100)}%  ${blobs} blobs  ${bytesText(tally.movedBytes)} of ${bytesText(tally.foundBytes)}`
  }
  const counting = (kind: 'found' | 'moved' | 'held') => (blobs: number, bytes: number) => {
    tally[`${kind}Blobs`] += blobs
    tally[`${kind}Bytes`] += bytes
    line.show(words)
  }
  return Object.assign(tally, { found: counting('found'), moved: counting('moved'), held: counting('held') })
}
