import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** A page of documentation, parsed as far as tests verify it. */
export interface Page {
  /** Relative to the root of the repository. */
  readonly path: string
  readonly text: string
}

export const readPages = (root: string, paths: readonly string[]): Page[] =>
  paths.filter((path) => path.endsWith('.md')).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** The contents of code blocks in one of these languages. */
export const blocksOf = ({ text }: Page, ...languages: readonly string[]): string[] =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, language = '']) => languages.includes(language))
    .map(([, , block = '']) => block)

export interface Link {
  /** Relative to the root; the page's own path for a link within it. */
  readonly path: string
  readonly heading: string | undefined
}

/** Links within the repository. */
export const linksOf = ({ path, text }: Page): Link[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => {
      const [file = '', heading] = target.split('#')
      return { path: file === '' ? path : normalize(join(dirname(path), file)), heading }
    })

/** As links spell them. */
export const headingsOf = ({ text }: Page): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, words = '']) =>
    words
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .trim()
      .replaceAll(' ', '-'),
  )

/** Files and folders of the repository that the text names. */
export const pathsIn = ({ text }: Page): string[] =>
  [...text.matchAll(/`((?:src|test|bench|proto|docs|examples|bin)\/[\w./-]+)`/g)].map(([, path = '']) => path)

export const scriptsIn = ({ text }: Page): string[] =>
  [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, script = '']) => script)

export interface ExampleCall {
  /** For example `cas put`. */
  readonly command: readonly string[]
  readonly flags: readonly string[]
  readonly line: string
}

const HAVE_COMMANDS_BELOW = new Set(['cas', 'check', 'cwl', 'languages', 'worker'])

/** The calls of the program in shell examples, up to the next program of a pipe. */
export const callsIn = (page: Page): ExampleCall[] =>
  blocksOf(page, 'sh', 'console')
    .flatMap((block) => block.split('\n'))
    .flatMap((line) =>
      [...line.matchAll(/\bwindlass ([a-z][^|;&#]*)/g)].map(([, printed = '']) => {
        const [words = ''] = printed.split(/ -- |'/)
        const [first = '', second = ''] = words.split(' ')
        const command = HAVE_COMMANDS_BELOW.has(first) && /^[a-z]+$/.test(second) ? [first, second] : [first]
        return { command, flags: [...words.matchAll(/(?<=\s)--[a-z][a-z-]+/g)].map(([flag]) => flag), line }
      }),
    )
