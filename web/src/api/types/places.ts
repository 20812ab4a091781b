/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A city of the gazetteer; `at` is its latitude and longitude, `node` a name that a node of it can have.
 */
export interface CityRow {
  name: string;
  country: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  at: [number, number];
  inhabitants: number;
  node: string;
}

/**
 * Cities whose names begin as was asked, the best first.
 */
export interface Cities {
  cities: CityRow[];
  source: 'GeoNames, CC BY 4.0';
}

/**
 * Fibre between two places: its length is `route_factor` times the great circle; `delay` is one way.
 */
export interface FibreRow {
  great_circle_km: number;
  fibre_km: number;
  route_factor: number;
  index: number;
  delay_ns: number;
  delay: string;
}

/**
 * Fibre between pairs of places, in the order of the request.
 */
export interface Fibres {
  fibres: FibreRow[];
}
