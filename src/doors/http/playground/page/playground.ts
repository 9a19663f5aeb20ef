import { codeEditor } from './code-editor.ts'
import { drafts, templatesHere } from './drafts.ts'
import { element } from './element.ts'
import { type LanguageMenu, languageChoice } from './language-choice.ts'
import { runControls } from './run-controls.ts'
import { shareDialog } from './share-dialog.ts'
import { type Shared, sharedIn } from './share-link.ts'
import { themeChoice } from './theme-choice.ts'

/** Preferred languages. The first one that is offered is selected. */
const FAVOURITES = ['python', 'javascript']

/** Builds the page. A shared link fills the editor and never runs by itself. */
async function startPlayground(): Promise<void> {
  const notice = noticeLine(element('notice', HTMLElement))
  const stdin = element('stdin', HTMLTextAreaElement)
  let choice: LanguageMenu | undefined
  let linked: string | undefined
  const program = (): Shared | undefined => {
    const language = choice?.language()
    const version = choice?.version()
    if (language === undefined) return undefined
    return { language, ...(version !== undefined && { version }), code: editor.code(), stdin: stdin.value }
  }
  const service = runControls(program)
  const nonce = document.querySelector<HTMLScriptElement>('script[type=module]')?.nonce ?? ''
  const editor = codeEditor({ place: element('editor', HTMLElement), nonce, run: service.run })
  themeChoice(element('theme', HTMLSelectElement), editor.setDark)
  const kept = drafts({ editor, stdin, templates: await templatesHere() })

  /** Returns whether the address contained a program. */
  const openLink = async (): Promise<boolean> => {
    if (location.hash.length < 2) return false
    const shared = await sharedIn(location.hash)
    if (shared === undefined) {
      notice('This link holds no program that could be read.')
      return false
    }
    linked = shared.language
    const isOffered = choice?.choose(shared.language, shared.version) ?? false
    kept.put((isOffered && choice?.language()) || shared.language, shared)
    if (!isOffered)
      notice(`No worker offers ${shared.language} at the moment. The shared code is shown, but cannot run.`)
    return true
  }
  const turn = (): void => {
    const language = choice?.language()
    if (language !== undefined) kept.turnTo(language)
  }
  /** Called when the list of languages arrives after the page: the code stays if its language is in the list. */
  const come = (): void => {
    if (linked === undefined) FAVOURITES.find((name) => choice?.choose(name))
    else if (choice?.choose(linked)) return
    turn()
  }
  choice = await languageChoice({
    language: element('language', HTMLSelectElement),
    version: element('version', HTMLSelectElement),
    changed: turn,
    come,
    notice,
  })
  if (!(await openLink())) come()
  addEventListener('hashchange', openLink)
  listenToKeys(service.run)
  const share = shareDialog()
  element('share', HTMLButtonElement).addEventListener('click', () => {
    const language = choice?.language() ?? linked
    if (language !== undefined) void share(program() ?? { language, code: editor.code(), stdin: stdin.value })
  })
  document.body.removeAttribute('aria-busy')
}

const noticeLine =
  (place: HTMLElement) =>
  (text: string | undefined): void => {
    place.hidden = text === undefined
    place.textContent = text ?? ''
  }

/** Applies anywhere on the page; the editor handles the key itself. */
function listenToKeys(run: () => void): void {
  addEventListener('keydown', (event) => {
    const isRun = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
    if (!isRun || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return
    event.preventDefault()
    run()
  })
}

void startPlayground()
