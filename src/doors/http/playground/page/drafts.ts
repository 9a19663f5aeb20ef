import type { CodeEditor } from './code-editor.ts'

export interface Draft {
  readonly code: string
  readonly stdin: string
}

export interface DraftOptions {
  readonly editor: CodeEditor
  readonly stdin: HTMLTextAreaElement
  readonly templates: Readonly<Record<string, Draft>>
}

export interface Drafts {
  /** Shows the last text in this language, or its template. */
  turnTo(language: string): void
  /** Replaces the text of a language and shows it. */
  put(language: string, draft: Draft): void
}

/** The text of the editor per language, so that it is kept when the user changes the language. */
export function drafts({ editor, stdin, templates }: DraftOptions): Drafts {
  const kept = new Map<string, Draft>()
  let shown: string | undefined
  const show = (language: string, draft: Draft): void => {
    if (shown !== undefined) kept.set(shown, { code: editor.code(), stdin: stdin.value })
    shown = language
    editor.show(draft.code, language)
    stdin.value = draft.stdin
  }
  return {
    turnTo: (language) => show(language, kept.get(language) ?? templates[language] ?? { code: '', stdin: '' }),
    put: show,
  }
}

/** The first text of each language; optional. */
export async function templatesHere(): Promise<Readonly<Record<string, Draft>>> {
  try {
    return await (await fetch('/play/templates.json')).json()
  } catch {
    return {}
  }
}
