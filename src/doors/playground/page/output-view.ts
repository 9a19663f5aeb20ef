import { visibleText } from './visible-text.ts'

export type Look = 'stdout' | 'stderr' | 'note'

/** Shows what is printed, as text and nothing else. What comes faster than it can be drawn is drawn once a frame. */
export interface OutputView {
  add(look: Look, text: string): void
  clear(): void
}

/** Signs that stay on the page; of more, the end is what people look for. */
const MOST_SHOWN = 300_000
/** What a piece costs besides its signs, so that a flood of small ones ends too. */
const PIECE = 50

export function outputView(place: HTMLElement): OutputView {
  let waiting: [Look, string][] = []
  let waitingSize = 0
  let frame: number | undefined
  let shown = 0
  let isCut = false

  const draw = (): void => {
    frame = undefined
    const isAtEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 24
    const drawn = document.createDocumentFragment()
    for (const [look, text] of lastOf(waiting)) {
      const piece = document.createElement('span')
      piece.className = look
      piece.textContent = visibleText(text)
      shown += piece.textContent.length + PIECE
      drawn.append(piece)
    }
    waiting = []
    waitingSize = 0
    place.append(drawn)
    shorten()
    if (isAtEnd) place.scrollTop = place.scrollHeight
  }

  /** Whole pieces go first, and then the beginning of the first that is left. */
  const shorten = (): void => {
    while (shown > MOST_SHOWN) {
      const first = place.querySelector(':scope > span:not(.cut)')
      if (first === null) return
      const text = first.textContent ?? ''
      const excess = shown - MOST_SHOWN
      if (text.length <= excess) first.remove()
      else first.textContent = text.slice(excess)
      shown -= text.length <= excess ? text.length + PIECE : excess
      sayCut()
    }
  }
  const sayCut = (): void => {
    if (isCut) return
    isCut = true
    const note = document.createElement('span')
    note.className = 'note cut'
    note.textContent = `(only the last ${MOST_SHOWN.toLocaleString('en')} characters are shown)\n`
    place.prepend(note)
  }
  return {
    add(look, text) {
      if (text === '') return
      const last = waiting.at(-1)
      if (last !== undefined && last[0] === look) last[1] += text
      else waiting.push([look, text])
      waitingSize += text.length + PIECE
      if (waitingSize > 2 * MOST_SHOWN) {
        waiting = lastOf(waiting) // of a page that nobody looks at no frame is drawn
        waitingSize = MOST_SHOWN
      }
      frame ??= requestAnimationFrame(draw)
    },
    clear() {
      if (frame !== undefined) cancelAnimationFrame(frame)
      frame = undefined
      waiting = []
      waitingSize = 0
      shown = 0
      isCut = false
      place.replaceChildren()
    },
  }
}

/** A flood is not turned into elements that would be thrown away at once. */
function lastOf(pieces: readonly [Look, string][]): [Look, string][] {
  const kept: [Look, string][] = []
  let room = MOST_SHOWN + 1 // one more than fits, so that the cut is seen
  for (const [look, text] of pieces.toReversed()) {
    if (room <= 0) break
    kept.push([look, text.slice(-room)])
    room -= text.length + PIECE
  }
  return kept.reverse()
}
