/** The subclass relation of formats. */
export interface Ontology {
  isKindOf(format: string, ancestor: string): boolean
}

const SUBCLASS = /(?:rdfs:subClassOf|<http:\/\/www\.w3\.org\/2000\/01\/rdf-schema#subClassOf>)/
const EQUIVALENT = /(?:owl:equivalentClass|<http:\/\/www\.w3\.org\/2002\/07\/owl#equivalentClass>)/

/** Parses the needed part of RDF, as XML and as Turtle: `subClassOf` and `equivalentClass` between names. */
export function ontologyOf(texts: readonly string[]): Ontology {
  const parents = new Map<string, Set<string>>()
  const add = (child: string, parent: string): void => {
    const known = parents.get(child) ?? new Set()
    parents.set(child, known.add(parent))
  }
  for (const text of texts) {
    if (/^\s*(<\?xml|<!DOCTYPE|<rdf:RDF)/.test(text)) readXml(text, add)
    else readTurtle(text, add)
  }
  return {
    isKindOf(format, ancestor) {
      const seen = new Set([format])
      const open = [format]
      for (let one = open.pop(); one !== undefined; one = open.pop()) {
        if (one === ancestor) return true
        for (const parent of parents.get(one) ?? []) {
          if (!seen.has(parent)) open.push(parent)
          seen.add(parent)
        }
      }
      return false
    },
  }
}

type Add = (child: string, parent: string) => void

function readXml(text: string, add: Add): void {
  const entities = new Map(
    [...text.matchAll(/<!ENTITY\s+(\S+)\s+"([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const whole = (name: string): string =>
    name.replace(/&([^;]+);/g, (all, entity: string) => entities.get(entity) ?? all)
  let subject: string | undefined
  const parts =
    /<owl:Class\s+rdf:about="([^"]*)"|<\/owl:Class>|<(rdfs:subClassOf|owl:equivalentClass)\s+rdf:resource="([^"]*)"/g
  for (const [, about, relation, target] of text.matchAll(parts)) {
    if (about !== undefined) subject = whole(about)
    else if (relation !== undefined && target !== undefined && subject !== undefined) {
      add(subject, whole(target))
      if (relation === 'owl:equivalentClass') add(whole(target), subject)
    }
  }
}

function readTurtle(text: string, add: Add): void {
  const prefixes = new Map(
    [...text.matchAll(/@prefix\s+(\S*):\s*<([^>]*)>/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const whole = (name: string): string => {
    if (name.startsWith('<')) return name.slice(1, -1)
    const colon = name.indexOf(':')
    return (prefixes.get(name.slice(0, colon)) ?? '') + name.slice(colon + 1)
  }
  const terms =
    text.replace(/#[^\n<>"]*$/gm, '').match(/<[^>]*>|"(?:[^"\\]|\\.)*"|[^\s;,]+:[^\s;,]*[^\s;,.]|[;,.]|\S+/g) ?? []
  let subject: string | undefined
  let relation: string | undefined
  for (const term of terms) {
    if (term === '.') subject = relation = undefined
    else if (term === ';') relation = undefined
    else if (subject === undefined) subject = term
    else if (relation === undefined) relation = term
    else if (term !== ',' && SUBCLASS.test(relation)) add(whole(subject), whole(term))
    else if (term !== ',' && EQUIVALENT.test(relation)) {
      add(whole(subject), whole(term))
      add(whole(term), whole(subject))
    }
  }
}
