//! The JSON Schema of plans, from which the Python types are made.

#[test]
fn the_schema_is_that_of_the_types() {
    let schema = schemars::schema_for!(longhaul_plan::Plan);
    let committed: serde_json::Value = serde_json::from_str(include_str!("../schema.json")).unwrap();
    assert_eq!(schema.as_value(), &committed, "write it again: tools/plan-types");
}
