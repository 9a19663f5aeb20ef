import { Hono } from 'hono'
import type { Language } from '../../../model/language.ts'
import { browserPackages } from './browser-packages.ts'
import { entryName, libraryModule, pageModules } from './page-modules.ts'
import { playgroundPage, playgroundPolicy } from './playground-page.ts'
import { type ServedFile, servingFiles } from './served-file.ts'

export interface PlaygroundOptions {
  /** The first text of each language in the editor: its self-test. */
  readonly languages: readonly Pick<Language, 'name' | 'selfTest'>[]
  /** A new random value per response: the browser runs only scripts with this nonce (Content-Security-Policy). */
  readonly newNonce: () => string
}

/** Modules that the page imports by name, some of them on demand. */
const LIBRARIES = [
  '@codemirror/view',
  '@codemirror/state',
  '@codemirror/commands',
  '@codemirror/language',
  '@codemirror/autocomplete',
  '@codemirror/theme-one-dark',
  '@codemirror/lang-python',
  '@codemirror/lang-javascript',
  '@codemirror/lang-cpp',
]

/**
 * A page to try the grid. It calls the code API of the same server, and the server stores nothing that the user types.
 */
export function playgroundDoor({ languages, newNonce }: PlaygroundOptions): Hono {
  const files = new Map<string, ServedFile>()
  for (const [name, file] of pageModules()) files.set(`/play/page/${name}`, file)
  const libraries = browserPackages(LIBRARIES, import.meta.url)
  for (const { name, file } of libraries) files.set(`/play/lib/${name}.js`, libraryModule(file))
  files.set('/play/templates.json', { type: 'application/json', text: () => JSON.stringify(templatesOf(languages)) })
  const imports = Object.fromEntries(libraries.map(({ name }) => [name, `/play/lib/${name}.js`]))

  const app = new Hono()
  app.get('/play', (c) => {
    const nonce = newNonce()
    c.header('content-security-policy', playgroundPolicy(nonce))
    c.header('cross-origin-opener-policy', 'same-origin')
    return c.html(playgroundPage({ nonce, imports, entry: `/play/page/${entryName}` }))
  })
  app.get('/play/', (c) => c.redirect('/play', 308))
  app.get('/play/*', servingFiles(files))
  return app
}

const templatesOf = (languages: PlaygroundOptions['languages']) =>
  Object.fromEntries(languages.map(({ name, selfTest: { code, stdin } }) => [name, { code, stdin }]))
