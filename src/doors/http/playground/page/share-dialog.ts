import { element } from './element.ts'
import { type Shared, shareFragment } from './share-link.ts'

/** Some programs truncate longer addresses when they are pasted. */
const LONG = 8000

/** Shows a link that contains the program, to be copied. The address of the page becomes that link too. */
export function shareDialog(): (shared: Shared) => Promise<void> {
  const dialog = element('shared', HTMLDialogElement)
  const link = element('link', HTMLInputElement)
  const copied = element('copied', HTMLElement)
  element('close', HTMLButtonElement).addEventListener('click', () => dialog.close())
  element('copy', HTMLButtonElement).addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(link.value)
      copied.textContent = 'Copied.'
    } catch {
      link.select() // a page without TLS may not write to the clipboard
      copied.textContent = 'Press Ctrl or Cmd with C to copy it.'
    }
  })
  return async (shared) => {
    history.replaceState(null, '', `#${await shareFragment(shared)}`)
    link.value = location.href
    copied.textContent = location.href.length > LONG ? 'It is long: some programs cut such links.' : ''
    dialog.showModal()
    link.select()
  }
}
