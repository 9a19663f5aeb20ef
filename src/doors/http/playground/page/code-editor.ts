import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import {
  bracketMatching,
  defaultHighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { oneDark } from '@codemirror/theme-one-dark'
import { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { supportFor } from './language-support.ts'

export interface CodeEditor {
  code(): string
  /** Shows other code, possibly in another language, and clears the undo history. */
  show(code: string, language: string): void
  setDark(isDark: boolean): void
}

export interface CodeEditorOptions {
  readonly place: HTMLElement
  /** The nonce of the page: the editor adds a style sheet. */
  readonly nonce: string
  /** Called when the user starts a run from the editor. */
  run(): void
}

export function codeEditor({ place, nonce, run }: CodeEditorOptions): CodeEditor {
  const support = new Compartment()
  const theme = new Compartment()
  let dark: Extension = []
  let chosen = ''
  const asked = (): boolean => {
    run()
    return true
  }
  const stateOf = (doc: string): EditorState =>
    EditorState.create({
      doc,
      extensions: [
        EditorView.cspNonce.of(nonce),
        // First, because the editor itself binds this key to another command.
        keymap.of([{ key: 'Mod-Enter', run: asked }]),
        editing,
        support.of([]),
        theme.of(dark),
      ],
    })
  const view = new EditorView({ parent: place, state: stateOf('') })
  return {
    code: () => view.state.doc.toString(),
    show(code, language) {
      chosen = language
      view.setState(stateOf(code))
      supportFor(language).then(
        (extension) => {
          if (chosen === language) view.dispatch({ effects: support.reconfigure(extension) })
        },
        () => {}, // without support the language is edited as plain text
      )
    },
    setDark(isDark) {
      dark = isDark ? oneDark : []
      view.dispatch({ effects: theme.reconfigure(dark) })
    },
  }
}

/**
 * The page inserts text that is typed over a selection. Chromium would copy the style of the replaced text as an
 * attribute, which the page's policy forbids.
 */
const typingOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main
    const { inputType, data } = event
    if (inputType !== 'insertText' || data === null || empty || view.composing) return false
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' })
    const isTaken = view.state.facet(EditorView.inputHandler).some((take) => take(view, from, to, data, insert))
    if (!isTaken) view.dispatch(insert())
    return true
  },
})

/** Tab indents. Esc and then Tab leave the editor, which is the editor's own rule. */
const editing: Extension = [
  lineNumbers(),
  highlightActiveLine(),
  highlightSpecialChars(),
  history(),
  indentUnit.of('    '),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  typingOver,
  syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
  EditorView.contentAttributes.of({ 'aria-labelledby': 'code-label', 'aria-describedby': 'editor-hint' }),
]
