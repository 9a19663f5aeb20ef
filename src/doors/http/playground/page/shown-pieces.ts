import { visibleText } from './visible-text.ts'

export type Look = 'stdout' | 'stderr' | 'note'
export type ShownPiece = readonly [look: Look, text: string]

/** The maximum number of characters on the page. Of a longer output the end is kept, because users look for it. */
export const MOST_SHOWN = 300_000
/** Added size of each piece, so that a flood of small pieces is limited too. */
export const PIECE = 50

export interface ShownPieces {
  /** Appends pieces, and removes text from the beginning beyond the limit. */
  append(pieces: readonly ShownPiece[]): void
  clear(): void
}

export function shownPieces(place: HTMLElement): ShownPieces {
  let size = 0
  let isCut = false

  /** Removes whole pieces first, then the beginning of the first remaining one. */
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
