import { type DescribedFile, readDescriptors } from '../../../wire/descriptors.ts'

/** Finds the file that declares a name, a symbol or an extension. */
export interface DescriptorIndex {
  named(name: string): DescribedFile | undefined
  declaring(symbol: string): DescribedFile | undefined
  extending(extendee: string, number: number): DescribedFile | undefined
  /** In ascending order; undefined for a type that is neither declared nor extended here. */
  extensionNumbers(extendee: string): readonly number[] | undefined
}

export function descriptorIndex(descriptorSet: Uint8Array): DescriptorIndex {
  const files = readDescriptors(descriptorSet)
  const byName = new Map(files.map((file) => [file.name, file]))
  const bySymbol = new Map(files.flatMap((file) => file.symbols.map((symbol) => [symbol, file] as const)))
  const byExtendee = new Map<string, Map<number, DescribedFile>>()
  for (const file of files) {
    for (const { extendee, number } of file.extensions) {
      const known = byExtendee.get(extendee) ?? new Map<number, DescribedFile>()
      byExtendee.set(extendee, known.set(number, file))
    }
  }
  return {
    named: (name) => byName.get(name),
    declaring: (symbol) => bySymbol.get(symbol),
    extending: (extendee, number) => byExtendee.get(extendee)?.get(number),
    extensionNumbers(extendee) {
      const extensions = byExtendee.get(extendee)
      if (extensions) return [...extensions.keys()].sort((a, b) => a - b)
      return bySymbol.has(extendee) ? [] : undefined
    },
  }
}
