"""The plan of imports: which folder, and which file of the larger folders, may use which."""

from __future__ import annotations

# A room's files and folders, foundations first: a file may use what is written above its own line, or on it.
# A folder's __init__ is its front, which its own files do not use, unless the plan gives it a place.
LAYERS = {
    "": """
        errors
        base
        engines
        data
        tables
        sheets
        information utility plot linear population
        release
        rules
        risk
        audits
        methods
        formats
        parts
        policy
        publishing datasets server in_place warm_up
        cli
        __main__
    """,
    "engines": """
        protocol frames remote
        checks dense
        duckdb
        ibis
    """,
    "linear": """
        system linear_tuning highs _reduction _propagation _flows _short_moves _points _whole_moves _level_moves
        swept_bounds modular light_vectors light_cuts
        null_space presolve program components
        extremes network whole_points whole_moves pushed_points nearby free_variables
        integer
        whole_repair
        intervals exact_point
        witness pool bound_proof
    """,
    "plot": """
        figure_style label_places
        text_fit
        finishing
        image_bytes risk_charts change_charts
    """,
    "sheets": """
        sheet_grid stated_counts count_words quotient_cells
        counts_in_words
        shares_in_words sheet_options sheet_layout
        rewrite
        excel opendocument
        sources same_layout picture
        sheet_table
        person_records blocks
        sums
        cell_roles table_of_cells grouped_blocks
        sheet_axes sheet_sums
        understanding shares_elsewhere
        listed_cells counted_shares quotient_tables
        reading_sheets
    """,
    "sheets/rewrite": """
        number_look archive xml_copy kept_formulas looks plain_images displayed_elements
        edits
        notices
        text_cells
        html_cells
        delimited_text html_tables parquet_columns
    """,
    "sheets/excel": """
        excel_names excel_formats excel_theme
        excel_texts excel_styles
        excel_cells
        excel_package
        excel_grid excel_images
        excel_sheet
        excel_frame
        excel_book
    """,
    "sheets/blocks": """
        cell_reading
        row_kinds derived_names block_cells
        stub_columns worded_cells
        sheet_blocks
        label_paths quotient_lines
        implied_indents body_numbers
        stated_populations stocks
        running_sums
        separate_variables
    """,
    "sheets/sums": """
        axis_levels axis_lines number_groups label_ranges
        sum_questions sum_runs nested_labels repeated_labels
        axis_sums
        cell_map remainders
        joint_totals further_groups groupings mean_lines unexplained_sums
        shares
        share_pairs share_bases
    """,
    "release": """
        status sum_errors noise_law table_words
        release
        protected
    """,
    "audits": """
        _known_sums
        contradiction frechet verify known_sums
        known
        mean_equations mirrored_pairs
        view feasible_sample
        one_person joined
        lines linked contributors intruders by_subtraction on_demand
        owner_report
        owner_attack described certificate_files
        certificate_claims certificate_page
        certificate
        report
        informed
        view_audit
        if_counts if_left_out if_beyond_ranges mean_audit
        auditing
    """,
    "audits/verify": """
        certificate_form
        plain_csv proofs
        separate_claims
        whole_certificate
        __main__
    """,
    "audits/joined": """
        same_labels common_cells families join_tree publication unjudged_cells percentages mean_columns published_copy
        sheet_releases sheet_populations shown_cells other_names
        periods mapping conflict argument posterior_counts
        sources together
        known_sets changes
    """,
    "methods": """
        contract
        likely
        __init__ by_hand invariance keys
        touching redesign
        perturb records suppress
        synthetic recipes
        effect
    """,
    "in_place": """
        secret_numbers
        kept_texts sorted_rows
        protection_report contents put_back
        chosen_methods protecting table_margins margin_links
        number_links common_margins mirrored_cells standing_cells
        possible_parts share_tables
        table_links
        linked_sheets joint_audit
        protecting_tables
        count_frames sheet_files
    """,
    "methods/recipes": """
        redact midpoint shown_sums further_hidden
        chain
        offices
    """,
    "methods/suppress": """
        model
        attacker
        gauss
        heuristics
        exact
        hitas
        repair
        insider_rounds suppressed limits key_chance quick_patterns
        solve by_elimination cleaning against_owner sensitive_unions
        by_solver diagnosis
        method
        named instance
    """,
    "methods/synthetic": """
        crossing _redraw discrete_normal
        small_groups
        noisy_margins
        first_population
        fit
        synthetic
        privacy_budget
    """,
    "policy": """
        query measures population_models posterior steps protection method_digest served_measures held_tables
        sections
        policy
        pretabular populations catalogue withheld_codes joint_populations counted_words
        comparing untouched whole_variables area_release measure_words sensitive_cells
        judging search
        deciding
        statistic_answers
        answering
        in_parts record screening attacks
    """,
    "policy/attacks": """
        closure mechanism finding _sampled_table
        _sampling_kernels
        answers
        two_way averaging subtracting edition_differences
        small_populations least_squares zeros equal_sets shadow target_cells
        sampling query_search
        claims
        attack_page
        attack_report
        one_population
        attacking
    """,
    "publishing": """
        spec faults expand
        compare run_report
        checking linked_in_turn
        parsing
        protect
        folder
        running
    """,
    "server": """
        settings schema queries parameter_checks languages browser_safety cache logs metrics accepting method_standing
        attack_result record views
        editions
        counting auth
        attack_standing guarding
        service
        api
        pages portals
        running
    """,
    "server/guarding": """
        pacing
        unions
        spans
        combinations
        guard commits history
    """,
    "server/editions": """
        edition_marks edition_series
        edition_history edition_sketch
        editions
        served_editions
    """,
    "server/record": """
        migrations
        store server_key
        rate_limits record_lines record_search page_marks
    """,
    "server/views": """
        choices
        sheet view_data charts
        traffic_charts
        page_measures
        page_choice
        variable_cards
    """,
    "server/pages": """
        corrections nearest_tables
        messages pages methodologist short_links
    """,
    "server/counting": """
        cube_measures
        cube counting
        held_shapes
    """,
    "server/running": """
        site connections
        hub
        app
        workers
    """,
}
