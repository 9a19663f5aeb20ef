import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * Compiles sources to JavaScript, as in the published package. A process that runs TypeScript loads the type stripper,
 * which makes it half as large again, and a fork copies the process.
 */
export function published(folder: string, parts: readonly string[]): (path: string) => URL {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const part of parts) {
    for (const name of readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue
      const code = stripTypeScriptTypes(readFileSync(join(root, part, name), 'utf8'))
      const path = join(folder, part, name.replace(/\.ts$/, '.js'))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, code.replace(/(from '\.[^']+)\.ts'/g, "$1.js'"))
    }
  }
  return (path) => pathToFileURL(join(folder, path))
}
