import { StringDecoder } from 'node:string_decoder'

/** What each command prints, as whole lines; those of several come mixed. */
export interface CommandLines {
  /** The lines that these bytes have ended. */
  add(path: string, bytes: Uint8Array): readonly string[]
  /** What came after the last line, and the command is forgotten. */
  end(path: string): readonly string[]
}

export function commandLines(): CommandLines {
  const open = new Map<string, { readonly decoder: StringDecoder; text: string }>()
  return {
    add(path, bytes) {
      const rest = open.get(path) ?? { decoder: new StringDecoder('utf8'), text: '' }
      open.set(path, rest)
      const lines = (rest.text + rest.decoder.write(Buffer.from(bytes))).split('\n')
      rest.text = lines.pop() ?? ''
      return lines
    },
    end(path) {
      const rest = open.get(path)
      open.delete(path)
      return rest === undefined || rest.text === '' ? [] : [rest.text]
    },
  }
}
