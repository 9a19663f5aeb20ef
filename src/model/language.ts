import type { Limits, PlatformProperty } from './command.ts'

/** A language as its file in `languages/` describes it: all that is needed to run code in it, and to see that it works. */
export interface Language {
  /** Lower-case letters, digits, `+`, `#` and dashes: `python`, `c++`. */
  readonly name: string
  /** For people. */
  readonly title: string
  readonly aliases: readonly string[]
  /** The name of a source file when the request gives none. */
  readonly fileName: string
  /**
   * For languages where the file name matters, such as Java: a regular expression whose first group, if it matches the
   * code, is the file name without its extension.
   */
  readonly fileNamePattern?: string
  /** Extensions, with dots, of the files that `{files}` stands for; default: the extension of `fileName`. */
  readonly extensions?: readonly string[]
  /** Undefined for what is run as it is written. */
  readonly compile: LanguageStage | undefined
  readonly run: LanguageStage
  /** An interpreter of it may be started ahead of the code that it will run; undefined for one that must not be. */
  readonly warm?: LanguageWarmth | undefined
  readonly probe: LanguageProbe
  readonly selfTest: LanguageSelfTest
  /** The Debian packages that contain it. */
  readonly debian?: readonly string[]
  /** It runs in its own root file system, made of these Debian packages besides the above. */
  readonly libraries?: { readonly debian: readonly string[] }
}

/**
 * In `argv` and in the values of `env`, `{file}` is replaced by the name of the first file, `{stem}` by that name without
 * its extension, and `{files}` (alone in an argument) by the names of all files that the language compiles. The caller's
 * arguments are appended.
 */
export interface LanguageStage {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The default limits. */
  readonly limits: Limits
  /** For compiling: all outputs that running needs, by paths and patterns. When given, they are cached. */
  readonly outputs?: readonly string[] | undefined
}

/**
 * It opens its first file after all slow parts of its start, and reads it once from the front. Code that it could not
 * read this way, or that comes with files that it opens earlier, runs without a head start.
 */
export interface LanguageWarmth {
  /** Names of files that it looks for while it starts. */
  readonly exceptFiles: readonly string[]
  /** A regular expression for code that it would begin to read anew; `^` is the beginning of any line. */
  readonly exceptCode?: string | undefined
}

/** How a host is asked whether it has the language, and which version of it. */
export interface LanguageProbe {
  /** All of them must be in the PATH. */
  readonly programs: readonly string[]
  /** Optional programs that are used where installed: hosts with and without one do not share results. */
  readonly also?: readonly string[]
  readonly argv: readonly string[]
  /** A regular expression whose first group is the version, such as `3.11.2`. */
  readonly pattern: string
}

export interface LanguageSelfTest {
  readonly code: string
  readonly stdin: string
  /** Exactly what it prints. */
  readonly stdout: string
}

/** A language as live workers offer it. */
export interface LanguageOffer {
  readonly name: string
  readonly title: string
  readonly aliases: readonly string[]
  readonly fileName: string
  readonly compiled: boolean
  /** The newest first. */
  readonly versions: readonly string[]
}

/**
 * The property by which workers offer languages: `python`, and `python@3.11.2` for the version. A worker that knows no
 * version offers the name alone.
 */
export const LANGUAGE_PROPERTY = 'language'

/** The name of the language that a task asks for, without its version; undefined for a task that asks for none. */
export const languageIn = ({ platform }: { readonly platform: readonly PlatformProperty[] }): string | undefined =>
  platform.find(({ name }) => name === LANGUAGE_PROPERTY)?.value.split('@', 1)[0]
/** Names of languages whose self-test a worker has not finished: they may be available soon. */
export const TESTING_PROPERTY = 'language-testing'
export const languageWithVersion = (name: string, version: string): string => `${name}@${version}`
