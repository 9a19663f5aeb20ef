import { visibleText } from './visible-text.ts'

export type Look = 'stdout' | 'stderr' | 'note'
export type ShownPiece = readonly [look: Look, text: string]

/** Signs that stay on the page; of more, the end is what people look for. */
export const MOST_SHOWN = 300_000
/** Added cost of each piece, so that a flood of small pieces ends too. */
export const PIECE = 50

export interface ShownPieces {
  /** Below what is there; what is too much goes from above. */
  append(pieces: readonly ShownPiece[]): void
  clear(): void
}

export function shownPieces(place: HTMLElement): ShownPieces {
  let size = 0
  let isCut = false

  /** Whole pieces go first, and then the beginning of the first that is left. */
  const shorten = (): void => {
    while (size > MOST_SHOWN) {
      const first = place.querySelector(':scope > span:not(.cut)')
      if (first === null) return
      const text = first.textContent ?? ''
      const excess = size - MOST_SHOWN
      if (text.length <= excess) first.remove()
      else first.textContent = text.slice(excess)
      size -= text.length <= excess ? text.length + PIECE : excess
      if (!isCut) place.prepend(element('note cut', CUT))
      isCut = true
    }
  }
  return {
    append(pieces) {
      const drawn = document.createDocumentFragment()
      for (const [look, text] of pieces) {
        const seen = visibleText(text)
        size += seen.length + PIECE
        drawn.append(element(look, seen))
      }
      place.append(drawn)
      shorten()
    },
    clear() {
      size = 0
      isCut = false
      place.replaceChildren()
    },
  }
}

const CUT = `(only the last ${MOST_SHOWN.toLocaleString('en')} characters are shown)\n`

function element(look: string, text: string): HTMLElement {
  const made = document.createElement('span')
  made.className = look
  made.textContent = text
  return made
}
