import type { Extension } from '@codemirror/state'

/** How the editor knows a language; loaded when it is chosen. Most are plain text to it. */
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
