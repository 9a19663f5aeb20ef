import { type Look, MOST_SHOWN, PIECE, type ShownPiece, shownPieces } from './shown-pieces.ts'

/** Shows output as plain text. It is drawn at most once per frame. */
export interface OutputPane {
  add(look: Look, text: string): void
  /** Draws the output that waits for a frame. */
  drawAll(): void
  clear(): void
}

export function outputView(place: HTMLElement): OutputPane {
  const shown = shownPieces(place)
  let waiting: ShownPiece[] = []
  let waitingSize = 0
  let frame: number | undefined

  const draw = (): void => {
    const isAtEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 24
    shown.append(lastOf(waiting))
    if (isAtEnd) place.scrollTop = place.scrollHeight
    forget()
  }
  const forget = (): void => {
    if (frame !== undefined) cancelAnimationFrame(frame)
    frame = undefined
    waiting = []
    waitingSize = 0
  }
  return {
    add(look, text) {
      if (text === '') return
      waiting.push([look, text])
      waitingSize += text.length + PIECE
      if (waitingSize > 2 * MOST_SHOWN) {
        waiting = lastOf(waiting) // browsers draw no frames of a hidden page
        waitingSize = MOST_SHOWN
      }
      frame ??= requestAnimationFrame(draw)
    },
    drawAll() {
      if (frame !== undefined) draw()
    },
    clear() {
      forget()
      shown.clear()
    },
  }
}

/** Merges adjacent pieces, and drops text that would be removed at once, so that a flood creates few elements. */
function lastOf(pieces: readonly ShownPiece[]): ShownPiece[] {
  const kept: [Look, string][] = []
  let room = MOST_SHOWN + 1 // one more than fits, so that the notice is shown
  for (const [look, text] of pieces.toReversed()) {
    if (room <= 0) break
    const part = text.slice(-room)
    const next = kept.at(-1)
    if (next !== undefined && next[0] === look) next[1] = part + next[1]
    else kept.push([look, part])
    room -= text.length + PIECE
  }
  return kept.reverse()
}
