import { posix } from 'node:path'
import { invalid } from '../base/fault.ts'
import type { Language } from '../model/language.ts'
import type { SnippetFile } from '../model/snippet.ts'

const MOST_FILES = 1000
const MOST_NAME_BYTES = 1024
const MOST_PART_BYTES = 255

/** A snippet's files with their names in the room; the first one is run. Throws `invalid`. */
export function snippetFiles(files: readonly SnippetFile[], language: Language): readonly SnippetFile[] {
  if (files.length === 0) throw invalid('files: there must be at least one')
  if (files.length > MOST_FILES)
    throw invalid(`files: ${files.length} files exceed the limit of ${MOST_FILES}`, 'range')
  const named = files.map((file, i) => ({
    ...file,
    name: checkedName(i === 0 && file.name === '' ? unsaidName(file, language) : file.name),
  }))
  mustNotClash(named.map(({ name }) => name))
  return named
}

/** The value of `{files}`: the first file, and the others by their extensions. */
export function compiledNames(files: readonly SnippetFile[], language: Language): string[] {
  const extensions = language.extensions ?? [posix.extname(language.fileName)]
  return files
    .map(({ name }) => name)
    .filter((name, i) => i === 0 || extensions.some((extension) => extension !== '' && name.endsWith(extension)))
}

/** How much of the code is searched for the name of its class. */
const LOOKED_AT_BYTES = 64 * 1024

function unsaidName({ contents }: SnippetFile, { fileName, fileNamePattern }: Language): string {
  if (fileNamePattern === undefined) return fileName
  const code = Buffer.from(contents.buffer, contents.byteOffset, Math.min(contents.length, LOOKED_AT_BYTES))
  const own = new RegExp(fileNamePattern, 'm').exec(code.toString())?.[1]
  return own !== undefined && /^\w{1,100}$/.test(own) ? `${own}${posix.extname(fileName)}` : fileName
}

/**
 * A name becomes a path in the room and an argument of a compiler: a leading dash would make it an option, and a
 * leading @ a response file.
 */
function checkedName(name: string): string {
  const shown = JSON.stringify(name.slice(0, 200))
  const parts = name.split('/')
  if (name === '' || parts.some((part) => part === '')) throw invalid(`files: ${shown} is not a file name`)
  if (parts.some((part) => part === '..' || part === '.'))
    throw invalid(`files: ${shown} leads out of the working directory`)
  if (CONTROL.test(name) || !name.isWellFormed() || name.includes('\\'))
    throw invalid(`files: ${shown} has characters that are not allowed in a name`)
  if (/^[-@]/.test(name)) throw invalid(`files: ${shown} begins with a character that is not allowed there`)
  if (Buffer.byteLength(name) > MOST_NAME_BYTES || parts.some((part) => Buffer.byteLength(part) > MOST_PART_BYTES))
    throw invalid(`files: ${shown} is too long`)
  return name
}

const CONTROL = /\p{Cc}/u

function mustNotClash(names: readonly string[]): void {
  const taken = new Set<string>()
  for (const name of names) {
    if (taken.has(name)) throw invalid(`files: ${JSON.stringify(name)} comes twice`)
    taken.add(name)
  }
  for (const name of names)
    for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1))
      if (taken.has(name.slice(0, slash)))
        throw invalid(`files: ${JSON.stringify(name.slice(0, slash))} is both a file and the folder of another file`)
}
