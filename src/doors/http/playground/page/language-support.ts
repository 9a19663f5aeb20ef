import type { Extension } from '@codemirror/state'

/** Loads the editor's support for a language when it is selected. Most languages are edited as plain text. */
export async function supportFor(language: string): Promise<Extension> {
  switch (language) {
    case 'python':
    case 'python-data':
      return (await import('@codemirror/lang-python')).python()
    case 'javascript':
    case 'quickjs':
      return (await import('@codemirror/lang-javascript')).javascript()
    case 'typescript':
      return (await import('@codemirror/lang-javascript')).javascript({ typescript: true })
    case 'c':
    case 'c++':
      return (await import('@codemirror/lang-cpp')).cpp()
    default:
      return []
  }
}
